// What one request for translations can ask for.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_REQUEST_OPTIONS_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_REQUEST_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attend/translator.h"
#include "base/fields.h"
#include "memory/translation_memory.h"
#include "serve/request_queue.h"
#include "serve/serve_options.h"
#include "tasks/translation/sentence_splitting.h"
#include "tasks/translation/translation_search.h"

namespace attend {

// Weights of attention take memory with the square of lengths, for each hypothesis.
constexpr int64_t kMostPiecesWithAttention = 128;
constexpr int64_t kMostLengthWithAttention = kMostPiecesWithAttention + kExtraLength;
// Brings options to what a request with attention may ask for.
void LimitToAttention(TranslationOptions* options);

// How the outputs of a request's texts begin. A text with a beginning is translated as a whole.
struct OutputBeginnings {
  // As the model writes them: of each text, one of all, or of none.
  std::vector<std::string> texts;
  std::vector<std::vector<int32_t>> ids;  // in place of texts
  // Above 0: what is searched for are the tokens behind them, as Sentence::next_words has it.
  int64_t next_words = 0;

  bool OfText(size_t i) const {
    return next_words > 0 || !ids.empty() || (!texts.empty() && !Text(i).empty());
  }
  const std::string& Text(size_t i) const { return texts.size() == 1 ? texts[0] : texts[i]; }
};

// What POST /v1/translate takes beside its text.
struct RequestOptions {
  std::string model, source, target;
  TranslationOptions translation;
  bool protect = true;
  bool attention = false;
  SentenceSplitting split_sentences = SentenceSplitting::kAuto;
  std::string memory;                                      // its name; empty: none
  std::shared_ptr<const TranslationMemory> loaded_memory;  // of this name; no field
  bool memory_exact = true;
  MatchOptions match;
  bool stream = false;
  QueueOptions queue;
  OutputBeginnings beginnings;  // no field: it may be a list
};

FieldList Fields(RequestOptions& options);

// What a request asks that names nothing.
RequestOptions UsualRequest(const ServeOptions& options);

// Throws Error(kUsage) for what a request may not ask for here.
void CheckLimits(RequestOptions asked, const ServeOptions& options);

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_REQUEST_OPTIONS_H_
