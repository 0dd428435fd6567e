// A model that runs, whatever its task: what the store, the metrics and the list of models know.
#ifndef ATTEND_SERVE_SERVED_MODEL_H_
#define ATTEND_SERVE_SERVED_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "tasks/loaded_model.h"

namespace attend {

struct ModelToServe {
  std::string name;  // empty: by the languages, or else by the directory
  std::string directory;
  std::shared_ptr<const LoadedModel> loaded;
  std::string base = {};  // name of the model whose adapter it is; empty: it is whole
};

// Safe to use from many threads.
class ServedModel {
 public:
  // `routes`: those at which it answers.
  ServedModel(const ModelToServe& model, std::vector<std::string> routes);
  virtual ~ServedModel() = default;
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  // Of an adapter BASE/NAME.
  const std::string& name() const { return name_; }
  const std::string& base() const { return base_; }
  bool whole() const { return base_.empty(); }
  const std::string& directory() const { return directory_; }
  const std::shared_ptr<const LoadedModel>& loaded() const { return loaded_; }
  // Languages of its config.json; empty where it names none.
  const std::string& source() const { return source_; }
  const std::string& target() const { return target_; }
  const ModelConfig& config() const { return loaded_->config(); }
  const std::vector<std::string>& routes() const { return routes_; }
  bool AnswersAt(const std::string& route) const;
  int64_t loaded_at() const { return loaded_at_; }  // seconds since 1970

  // Sentences, prompts or texts, as the task runs them: those that wait, those in batches, and the
  // most that can be in batches at once.
  virtual int64_t waiting() const = 0;
  virtual int64_t live() const = 0;
  virtual int64_t capacity() const = 0;
  // For one more to wait; by the time it comes the room may be gone.
  virtual bool HasRoom() const = 0;
  // Adds what only its task has to what /v1/models says of it.
  virtual void Describe(Json* json) const = 0;
  // Cancels what is not done. Not to be called from the pool's threads.
  virtual void Stop() = 0;

 private:
  const std::shared_ptr<const LoadedModel> loaded_;
  std::string name_, base_, directory_, source_, target_;
  std::vector<std::string> routes_;
  int64_t loaded_at_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_SERVED_MODEL_H_
