// A language model as a training task: the decoder alone, cross-entropy of the next token,
// validation by perplexity and by texts that the model writes.
#ifndef ATTEND_TRAIN_TASKS_LANGUAGE_MODEL_LANGUAGE_MODEL_TASK_H_
#define ATTEND_TRAIN_TASKS_LANGUAGE_MODEL_LANGUAGE_MODEL_TASK_H_

#include <memory>
#include <optional>
#include <vector>

#include "attend/nn/loss.h"
#include "attend/nn/torch.h"
#include "attend/nn/transformer.h"
#include "model/model_directory.h"
#include "train/loop/task.h"
#include "train/loop/transfer.h"
#include "train/set_up.h"
#include "train/tasks/plain_text.h"
#include "train/train_options.h"

namespace attend {

class LanguageModelTask : public TrainingTask {
 public:
  // The setup's options are complete.
  LanguageModelTask(const TaskSetup& setup, PlainText text);

  const TaskInfo& info() const override;
  const ExampleSource& examples() const override { return *text_.train; }
  torch::nn::Module& module() override { return *transformer_; }
  int64_t CountTargets(const Batch& batch) const override;
  double Work(const Example& example) const override;
  torch::Tensor Loss(const Shard& shard, uint64_t seed) override;
  bool CanValidate() const override { return text_.valid != nullptr; }
  ValidationResult Validate() override;
  Json Digests() const override { return text_.Digests(); }
  Json ForExport() const override;
  void SaveFiles(const std::filesystem::path& directory) const override { text_.Save(directory); }
  void Describe(const Log& log) const override;
  Json CheckData(const Log& log) const override { return text_.Check(log); }
  Json Plan(const CorpusReport& /*read*/) const override { return text_.Plan(); }
  int64_t Choices() const override { return options_.model.target_vocab_size; }
  Json Test(const TestSetting& setting) override;

 private:
  nn::LossSums LossOf(const Examples& examples, const std::optional<nn::DropoutKey>& dropout);
  // Summed negative log-probability of the validation text's tokens, without smoothing.
  double ValidationSum();
  void WriteSamples(ValidationResult* result);
  // The model as it stands, with its vocabulary. Copies the weights.
  std::shared_ptr<Model> CurrentModel();

  TrainOptions options_;
  PlainText text_;
  int threads_;
  torch::Device device_;
  Uploader uploader_;
  nn::Transformer transformer_;
  nn::LabelSmoothingLoss loss_;
  std::optional<ExampleTable> valid_contexts_;
};

// As TrainableTask::set_up promises.
std::unique_ptr<TrainingTask> SetUpLanguageModel(const TaskSetup& setup);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_LANGUAGE_MODEL_LANGUAGE_MODEL_TASK_H_
