// A masked language model as a training task (Devlin et al. 2019): an encoder, cross-entropy of the
// hidden tokens, validation by their perplexity and by how many are found.
#ifndef ATTEND_TRAIN_TASKS_MASKED_LANGUAGE_MODEL_MASKED_LANGUAGE_MODEL_TASK_H_
#define ATTEND_TRAIN_TASKS_MASKED_LANGUAGE_MODEL_MASKED_LANGUAGE_MODEL_TASK_H_

#include <memory>
#include <optional>

#include "attend/nn/loss.h"
#include "attend/nn/torch.h"
#include "attend/nn/transformer.h"
#include "data/masked_corpus.h"
#include "train/loop/task.h"
#include "train/loop/transfer.h"
#include "train/set_up.h"
#include "train/tasks/plain_text.h"
#include "train/train_options.h"

namespace attend {

class MaskedLanguageModelTask : public TrainingTask {
 public:
  // The setup's options are complete.
  MaskedLanguageModelTask(const TaskSetup& setup, PlainText text);

  const TaskInfo& info() const override;
  const ExampleSource& examples() const override { return *train_; }
  torch::nn::Module& module() override { return *transformer_; }
  int64_t CountTargets(const Batch& batch) const override;
  double Work(const Example& example) const override;
  torch::Tensor Loss(const Shard& shard, uint64_t seed) override;
  bool CanValidate() const override { return valid_ != nullptr; }
  ValidationResult Validate() override;
  Json Digests() const override { return text_.Digests(); }
  Json ForExport() const override;
  void SaveFiles(const std::filesystem::path& directory) const override { text_.Save(directory); }
  void Describe(const Log& log) const override { text_.Describe(log); }
  Json CheckData(const Log& log) const override { return text_.Check(log); }
  Json Plan(const CorpusReport& read) const override;
  int64_t Choices() const override { return options_.model.target_vocab_size; }
  Json Test(const TestSetting& setting) override;

 private:
  // Hidden tokens of some examples: what the output projection reads for each, and what they are.
  struct Hidden {
    torch::Tensor input_RD, tokens_R;
  };
  Hidden HiddenTokens(const Examples& examples, const std::optional<nn::DropoutKey>& dropout);
  nn::LossSums LossOf(const Hidden& hidden);
  std::map<std::string, double> FiguresOf(const ExampleTable& contexts);
  void ShowSamples(ValidationResult* result);

  TrainOptions options_;
  PlainText text_;
  int threads_;
  torch::Device device_;
  Uploader uploader_;
  nn::Transformer transformer_;
  nn::LabelSmoothingLoss loss_;
  std::unique_ptr<const MaskedCorpus> train_, valid_;
  std::optional<ExampleTable> valid_contexts_;
};

// As TrainableTask::set_up promises.
std::unique_ptr<TrainingTask> SetUpMaskedLanguageModel(const TaskSetup& setup);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_MASKED_LANGUAGE_MODEL_MASKED_LANGUAGE_MODEL_TASK_H_
