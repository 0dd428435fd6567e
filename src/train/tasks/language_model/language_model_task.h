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
#include "attend/vocabulary.h"
#include "data/document_corpus.h"
#include "model/model_directory.h"
#include "train/loop/task.h"
#include "train/loop/transfer.h"
#include "train/set_up.h"
#include "train/train_options.h"

namespace attend {

class LanguageModelTask : public TrainingTask {
 public:
  // Reads all text that the setup's options name. They are complete: vocabulary sizes and ids are
  // set.
  LanguageModelTask(const TaskSetup& setup, std::shared_ptr<const Vocabulary> vocabulary);

  const TaskInfo& info() const override;
  const ExampleSource& examples() const override { return *train_; }
  torch::nn::Module& module() override { return *transformer_; }
  int64_t CountTargets(const Batch& batch) const override;
  double Work(const Example& example) const override;
  torch::Tensor Loss(const Shard& shard, uint64_t seed) override;
  bool CanValidate() const override { return valid_ != nullptr; }
  ValidationResult Validate() override;
  Json Digests() const override;
  Json ForExport() const override;
  void SaveFiles(const std::filesystem::path& directory) const override;
  void Describe(const Log& log) const override;
  Json CheckData(const Log& log) const override;
  Json Plan(const CorpusReport& read) const override;
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
  std::shared_ptr<const Vocabulary> vocabulary_;
  int threads_;
  torch::Device device_;
  Uploader uploader_;
  nn::Transformer transformer_;
  nn::LabelSmoothingLoss loss_;
  std::unique_ptr<const DocumentCorpus> train_, valid_, test_;  // test_: on rank 0
  std::optional<ExampleTable> valid_contexts_;
};

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_LANGUAGE_MODEL_LANGUAGE_MODEL_TASK_H_
