// A model that translates: its engine and its queue, on threads that all models share.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_SERVED_TRANSLATOR_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_SERVED_TRANSLATOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "memory/translation_memory.h"
#include "model/training_text.h"
#include "serve/request_queue.h"
#include "serve/serve_options.h"
#include "serve/served_model.h"
#include "tasks/translation/continuous_translator.h"

namespace attend {

constexpr const char* kTranslateRoute = "/v1/translate";

struct JobSentence : JobItem, Sentence {
  SentenceResult result;
  bool with_memory = false;                 // one was asked for
  std::vector<MemoryMatch> matches;         // that it has
  size_t source_bytes = std::string::npos;  // of the text; a match that the model reads follows
  std::optional<Translation> remembered;    // the memory's target, in place of the model's
};

// The sentence as it was sent.
std::string SourceOf(const JobSentence& sentence);

struct SentenceJob : Job {
  std::vector<JobItem*> Items() override;

  std::vector<JobSentence> sentences;
  // Called from an engine thread, one call at a time for each job.
  std::function<void(const JobSentence&)> on_sentence;  // may be empty
};

class ServedTranslator final : public ServedModel {
 public:
  // Starts. Throws as Translator does, Error(kInput) for a model without vocabulary.
  ServedTranslator(const ModelToServe& model, const ServeOptions& options, WorkPool* pool);
  ~ServedTranslator() override { Stop(); }

  const std::optional<TrainingText>& training_text() const { return training_text_; }
  const ContinuousTranslator& translator() const { return translator_; }
  RequestQueue& queue() { return queue_; }

  int64_t waiting() const override { return queue_.waiting(); }
  int64_t live() const override { return queue_.live(); }
  int64_t capacity() const override { return queue_.most_live(); }
  bool HasRoom() const override { return queue_.HasRoom(); }
  void Describe(Json* json) const override;
  void Stop() override;

 private:
  const int64_t beam_size_;  // of requests that do not name one
  std::optional<TrainingText> training_text_;
  ContinuousTranslator translator_;
  RequestQueue queue_;
  std::unique_ptr<SentenceQueue> sentences_;  // the queue, as the translator sees it
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_SERVED_TRANSLATOR_H_
