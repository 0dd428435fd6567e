// Texts through an encoder with a head of labels: what taggers and classifiers share.
#ifndef ATTEND_TASKS_LABEL_LOGITS_H_
#define ATTEND_TASKS_LABEL_LOGITS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/loaded_model.h"
#include "base/per_process.h"
#include "base/work_pool.h"
#include "engine/activations.h"
#include "tasks/loaded_model.h"

namespace attend {

// As a model reads a text, and the rows whose labels are wanted; rising. None: of the whole text.
struct LabelInput {
  std::vector<int32_t> ids;  // bos and eos included
  std::vector<int32_t> rows;
};

// Tokens of a text that the model can read beside bos and eos; 2^30 where positions have no end.
int64_t MaxLabelledTokens(const ModelConfig& config);

// The ids that a model with a head of labels reads of a text; where it labels words, these are what
// blanks divide, and the ids of the first part (EncodeWords).
std::vector<int32_t> ReadLabelled(const ModelConfig& config, const Vocabulary& vocabulary,
                                  const std::string& text);

// Immutable; safe to use from many threads.
class LabelLogits {
 public:
  // 0 threads: one for each processor. Throws Error(kUsage) for a model of another task or without
  // vocabulary.
  LabelLogits(std::shared_ptr<const LoadedModel> loaded, const std::string& task, int threads);

  const LoadedModel& loaded() const { return *loaded_; }
  int64_t max_tokens() const { return MaxLabelledTokens(loaded_->config()); }
  const std::vector<std::string>& labels() const { return loaded_->config().labels; }

  // [rows, L] for each input. Throws Error(kRuntime) for numbers that are not finite.
  std::vector<std::vector<float>> Run(std::span<const LabelInput> inputs) const;

 private:
  struct Threads {
    explicit Threads(int threads);
    WorkPool pool;
    std::vector<Activations> activations;  // by worker
  };

  void RunBatch(std::span<const LabelInput> inputs, std::span<const int64_t> batch,
                Activations* activations, std::vector<std::vector<float>>* logits) const;

  std::shared_ptr<const LoadedModel> loaded_;
  PerProcess<Threads> threads_;
};

}  // namespace attend

#endif  // ATTEND_TASKS_LABEL_LOGITS_H_
