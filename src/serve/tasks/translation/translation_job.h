// A request's texts as sentences, a job for each model that translates some of them, and the
// results as texts again.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_TRANSLATION_JOB_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_TRANSLATION_JOB_H_

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "serve/serve_options.h"
#include "serve/tasks/translation/request_options.h"
#include "serve/tasks/translation/served_translator.h"
#include "text/text_parts.h"

namespace attend {

// The sentences of a request that one model translates. Put into its queue as a part of the
// request, {request, &request->jobs[i]}, it keeps the whole alive.
struct ModelJob : SentenceJob {
  std::shared_ptr<ServedTranslator> model;

  int64_t Unfinished() const;  // sentences whose best hypothesis was cut
  int64_t UnknownCharacters() const;
  int64_t SourcePieces() const;
  int64_t TargetPieces() const;  // of the best hypotheses
};

struct TranslationJob {
  struct Text {
    std::string text;
    std::vector<TextPart> parts;
    const ModelJob* job = nullptr;
    size_t first = 0;     // its first sentence among the job's
    int64_t divided = 0;  // its sentences that were too long, each of which has several parts

    std::span<const JobSentence> Sentences() const {
      return {job->sentences.data() + first, parts.size()};
    }
    // The text with its sentences' hypotheses of this rank.
    std::string Join(size_t rank) const;
    // No best hypothesis of its sentences was cut.
    bool Finished() const;
    int64_t UnknownCharacters() const;
    // Of the best hypotheses of its sentences together, where it was asked for.
    std::optional<double> Quality() const;
  };

  std::deque<ModelJob> jobs;  // of each model one, in the order of their first texts
  std::vector<Text> texts;
  std::atomic<size_t> running{0};  // jobs that have not ended
  std::shared_ptr<void> reserved;  // held as long as the job is, where it takes much memory
  bool failed = false;             // its request has an error for an answer; the worker's alone

  int64_t Sentences() const;
  int64_t Unfinished() const;
  int64_t Divided() const;  // sentences that were too long
  int64_t UnknownCharacters() const;
  int64_t SourcePieces() const;
};

// `of_text` gives each text's model. A sentence is divided if it has more tokens than
// max_input_tokens or the model allows, or more than 64 bytes for each of these. Throws
// Error(kInput) for more sentences than max_sentences, and with attention, or with a beginning of
// its output, for a sentence that is too long. A megabyte takes seconds of work; `check` is called
// often meanwhile and may throw.
std::shared_ptr<TranslationJob> MakeJob(
    const std::vector<std::shared_ptr<ServedTranslator>>& models,
    const std::vector<size_t>& of_text, std::vector<std::string> texts, const RequestOptions& asked,
    const ServeOptions& options, const std::function<void()>& check);

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_TRANSLATION_JOB_H_
