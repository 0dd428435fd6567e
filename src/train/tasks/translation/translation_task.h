// Translation as a training task: the Transformer, label smoothing, validation by loss and by
// translating.
#ifndef ATTEND_TRAIN_TASKS_TRANSLATION_TRANSLATION_TASK_H_
#define ATTEND_TRAIN_TASKS_TRANSLATION_TRANSLATION_TASK_H_

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "attend/nn/loss.h"
#include "attend/nn/sequence_model.h"
#include "attend/nn/torch.h"
#include "attend/nn/transformer.h"
#include "base/log.h"
#include "data/denoised_corpus.h"
#include "data/parallel_corpus.h"
#include "model/model_directory.h"
#include "train/loop/task.h"
#include "train/loop/transfer.h"
#include "train/tasks/pair_batch.h"
#include "train/tasks/translation/teacher.h"
#include "train/tasks/translation/translation_scores.h"
#include "train/tasks/translation/translation_train_options.h"
#include "train/tasks/translation/vocabularies.h"
#include "train/train_options.h"

namespace attend {

// Learned positions end: throws Error(kConfiguration) where filters let through sentences beyond
// them.
void CheckFilters(const CorpusFilters& filters, const ModelConfig& model);

// Throws Error(kInput) for a source line, of all lines of `files`, that is longer than the
// encoder's learned positions reach.
void CheckTestText(const ParallelText& test, const std::vector<std::string>& files,
                   const Vocabulary& vocabulary, const ModelConfig& model);

class TranslationTask : public TrainingTask {
 public:
  // Reads all corpora that `options` names, with warnings to `log`. `options.model` is complete:
  // vocabulary sizes and ids are set.
  TranslationTask(const TrainOptions& options, Vocabularies vocabularies,
                  std::optional<ParallelText> test, int threads, const torch::Device& device,
                  const Log& log);

  const TaskInfo& info() const override;
  const ExampleSource& examples() const override {
    if (denoised_ != nullptr) return *denoised_;
    return *train_;
  }
  torch::nn::Module& module() override { return *model_; }
  int64_t CountTargets(const Examples& examples) const override;
  double Work(const Example& example) const override;
  torch::Tensor Loss(const Shard& shard, uint64_t seed) override;
  bool CanValidate() const override { return valid_ != nullptr || noised_; }
  ValidationResult Validate() override;
  Json Digests() const override;
  Json ForExport() const override;
  void SaveFiles(const std::filesystem::path& directory) const override;
  void Describe(const Log& log) const override;
  Json CheckData(const Log& log) const override;
  Json Plan(const CorpusReport& read) const override;
  int64_t Choices() const override { return options_.model.target_vocab_size; }
  Json Test(const TestSetting& setting) override;

  // Reads the training text once more, for what models say of it.
  void MeasureTrainingText();

 private:
  // A batch on the device: packed on CPUs, padded on GPUs.
  struct Inputs {
    std::variant<PackedPairs, PaddedPairs> ids;
    std::optional<nn::LinkedKeys> links;  // of examples that have them
  };
  Inputs InputsOf(const Examples& examples);
  // Hidden states of the batch's targets, [R, D], and the ids that follow them; on the device. With
  // links what guides them adds to the loss, times its weight.
  struct Hidden {
    torch::Tensor hidden_RD, targets_R, alignment_loss;
  };
  // Of one pass, without padding; dropout as SequenceModelImpl::PackedHidden has it.
  Hidden HiddenOf(const Inputs& inputs, const std::optional<nn::DropoutKey>& dropout);
  // Of the targets alone, as validation has it.
  nn::LossSums LossOf(const Examples& examples);
  // Of one pass as training has it, by the teacher too if there is one.
  torch::Tensor TrainingLoss(const Inputs& inputs, const nn::DropoutKey& dropout);
  // Of two passes.
  torch::Tensor TwoPassLoss(const Inputs& inputs, const nn::DropoutKey& dropout);
  void ReadValidation();
  // Mean negative log-probability of a target of validation examples, without smoothing.
  double ValidationLoss(const ExampleTable& examples);
  void Translate(ValidationResult* result);
  // The first texts with noise, and what the model writes for them.
  void ShowNoised(ValidationResult* result);
  void DescribeReferences(const Log& log) const;
  // The model as it stands, with its vocabularies and no samples. Copies the weights.
  std::shared_ptr<Model> CurrentModel();
  // With the engine, or on a GPU and of another architecture than a Transformer through LibTorch:
  // by `module`, which has the weights, or one that is made of them.
  std::shared_ptr<const LoadedModel> ToRun(std::shared_ptr<const Model> model,
                                           std::shared_ptr<nn::SequenceModelImpl> module) const;

  TrainOptions options_;
  TranslationTrainOptions own_;
  Vocabularies vocabularies_;
  int threads_;
  double source_work_, target_work_;  // of a token
  torch::Device device_;
  Log log_;
  Uploader uploader_;
  std::shared_ptr<nn::SequenceModelImpl> model_;
  std::shared_ptr<nn::TransformerImpl> guided_;        // the same, where links guide it
  std::unique_ptr<const TranslationTeacher> teacher_;  // or null
  nn::LabelSmoothingLoss loss_;
  std::optional<ParallelText> test_;            // on rank 0
  std::vector<double> weights_;                 // of the files of train_, or none
  std::shared_ptr<const Denoising> denoising_;  // of plain text, if there is any
  std::shared_ptr<const LineCorpus> train_;
  std::unique_ptr<const DenoisedCorpus> denoised_;  // of train_
  std::unique_ptr<const ParallelCorpus> valid_;
  std::shared_ptr<const ParallelCorpus> valid_plain_;  // plain text
  std::optional<ExampleTable> noised_;                 // the same, with noise
  ParallelText valid_text_;                            // empty without one
  std::unique_ptr<const Bleu> bleu_;                   // of translations of the validation text
  bool told_tokenized_ = false;                        // that these look so
  // Of the first lines of the validation text, or of the training text without one, those that the
  // encoder's positions reach.
  std::vector<std::string> sample_lines_;
  std::optional<TrainingText> training_text_;  // none until MeasureTrainingText
};

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TRANSLATION_TRANSLATION_TASK_H_
