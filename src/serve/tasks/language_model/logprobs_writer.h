// The `logprobs` of a completion, as the OpenAI API has them.
#ifndef ATTEND_SERVE_TASKS_LANGUAGE_MODEL_LOGPROBS_WRITER_H_
#define ATTEND_SERVE_TASKS_LANGUAGE_MODEL_LOGPROBS_WRITER_H_

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "attend/vocabulary.h"
#include "base/json.h"
#include "search/stepper.h"

namespace attend {

struct ScoredToken {
  int32_t id = 0;
  double log_probability = 0;
  std::vector<Candidate> best;  // the likeliest tokens in its place
};

// One owner. The vocabulary must outlive it.
class LogprobsWriter {
 public:
  // Of tokens that follow `before`, which end at this character of the prompt. `tops`: their best
  // are told.
  LogprobsWriter(const Vocabulary* vocabulary, std::vector<int32_t> before, int64_t offset,
                 bool tops)
      : vocabulary_(vocabulary), before_(std::move(before)), offset_(offset), tops_(tops) {}

  void Add(const ScoredToken& token);
  // Of the texts of all tokens so far.
  int64_t bytes() const { return bytes_; }
  // Of what came since the last call.
  Json Take();

 private:
  const Vocabulary* vocabulary_;
  std::vector<int32_t> before_;
  int64_t offset_;
  bool tops_;
  int64_t bytes_ = 0;
  Json tokens_ = Json::array(), logprobs_ = Json::array(), top_ = Json::array(),
       offsets_ = Json::array();
};

// Those of an output that comes in pieces: a token is told with the text in which it begins, so
// that none of a stop text is. One owner.
class StreamedLogprobs {
 public:
  explicit StreamedLogprobs(LogprobsWriter writer) : writer_(std::move(writer)) {}

  // Of a piece of the text; `tokens` have come since the last one.
  Json Show(const std::string& text, const std::vector<ScoredToken>& tokens);
  // Of what is left. `stopped`: by a stop text.
  Json End(bool stopped);

 private:
  LogprobsWriter writer_;
  std::deque<ScoredToken> waiting_;
  int64_t shown_ = 0;  // bytes
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_LANGUAGE_MODEL_LOGPROBS_WRITER_H_
