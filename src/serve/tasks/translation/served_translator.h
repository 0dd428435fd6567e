// A model that translates: its engine and its queue, on threads that all models share.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_SERVED_TRANSLATOR_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_SERVED_TRANSLATOR_H_

#include <optional>

#include "model/training_text.h"
#include "serve/serve_options.h"
#include "serve/served_model.h"
#include "serve/tasks/translation/request_queue.h"

namespace attend {

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
  int64_t capacity() const override { return capacity_; }
  bool HasRoom() const override { return queue_.HasRoom(); }
  void Describe(Json* json) const override;
  void Stop() override;

 private:
  const int64_t beam_size_;  // of requests that do not name one
  std::optional<TrainingText> training_text_;
  ContinuousTranslator translator_;
  int64_t capacity_;
  RequestQueue queue_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_SERVED_TRANSLATOR_H_
