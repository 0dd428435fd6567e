// A model that runs: its engine and its queue, on threads that all models share.
#ifndef ATTEND_SERVE_SERVED_MODEL_H_
#define ATTEND_SERVE_SERVED_MODEL_H_

#include <memory>
#include <optional>
#include <string>

#include "attend/model_config.h"
#include "model/training_text.h"
#include "serve/request_queue.h"
#include "serve/serve_options.h"

namespace attend {

class ServedModel {
 public:
  // Loads and starts. Throws as LoadModel and Translator do, Error(kInput) for a model without
  // vocabulary. `name` empty: by the languages, or else by the directory.
  ServedModel(std::string name, const std::string& directory, const ServeOptions& options,
              WorkPool* pool);
  ~ServedModel();

  const std::string& name() const { return name_; }
  // Languages of its config.json; empty where it names none.
  const std::string& source() const { return source_; }
  const std::string& target() const { return target_; }
  const ModelConfig& config() const { return config_; }
  const std::optional<TrainingText>& training_text() const { return training_text_; }

  const ContinuousTranslator& translator() const { return translator_; }
  RequestQueue& queue() { return queue_; }
  const RequestQueue& queue() const { return queue_; }
  // Sentences that can be live at once.
  int64_t places() const { return places_; }

  // Cancels what is not done. Not to be called from the pool's threads.
  void Stop();

 private:
  ServedModel(std::string name, const std::string& directory,
              const std::shared_ptr<const Model>& model, const ServeOptions& options,
              WorkPool* pool);

  ModelConfig config_;
  std::optional<TrainingText> training_text_;
  std::string name_, source_, target_;
  ContinuousTranslator translator_;
  int64_t places_;
  RequestQueue queue_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_SERVED_MODEL_H_
