// What tasks of labels share in training: an encoder whose head labels words or texts, the
// cross-entropy of the labels (or a CRF's loss), and validation by what the model predicts.
#ifndef ATTEND_TRAIN_TASKS_LABEL_TASK_H_
#define ATTEND_TRAIN_TASKS_LABEL_TASK_H_

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/error.h"
#include "attend/nn/loss.h"
#include "attend/nn/torch.h"
#include "attend/nn/transformer.h"
#include "attend/vocabulary.h"
#include "data/labelled_corpus.h"
#include "model/model_directory.h"
#include "train/loop/task.h"
#include "train/loop/transfer.h"
#include "train/set_up.h"
#include "train/train_options.h"

namespace attend {

// Text that is read, before it is encoded.
struct LabelledTexts {
  std::vector<LabelledItem> train, valid, test;
};

// Reads all files of the options. Throws Error(kInput).
LabelledTexts ReadTexts(const TaskSetup& setup);

// Makes the model's configuration whole: its vocabulary, which it gives, and its head. The labels
// are those of the training text, unless the model to fine-tune has its own.
std::shared_ptr<const Vocabulary> CompleteLabelOptions(const TaskSetup& setup,
                                                       const LabelledTexts& texts);

// What an option says of the head, or the model to fine-tune where it has labels already. Throws
// Error(kConfiguration) where both do, and differ.
template <class Value>
void TakeHeadOption(const TaskSetup& setup, const char* name, Value option, Value* of_model) {
  if (setup.options->model.labels.empty()) {
    *of_model = option;
  } else if (setup.settings->is_given(name) && *of_model != option) {
    throw Error(ErrorKind::kConfiguration,
                std::string(name) + " is not as in the model to fine-tune; leave it out");
  }
}

class LabelTask : public TrainingTask {
 public:
  // The setup's options are complete.
  LabelTask(const TaskSetup& setup, std::shared_ptr<const Vocabulary> vocabulary,
            LabelledTexts texts);

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
  int64_t Choices() const override { return options_.model.head_width(); }
  Json Test(const TestSetting& setting) override;

 protected:
  // Labels of each item, as the model predicts them, by number.
  using Predictions = std::vector<std::vector<int32_t>>;

  // Of the scores [T, L] of an item's words, or of it as a whole.
  virtual std::vector<int32_t> Choose(std::span<const float> scores_TL) const = 0;
  // Called before predictions of the module as it stands.
  virtual void BeginPrediction() {}
  virtual std::map<std::string, double> Figures(const std::vector<LabelledItem>& items,
                                                const Predictions& found) const = 0;
  virtual ValidationResult::Sample SampleOf(const LabelledItem& item,
                                            const std::vector<int32_t>& found) const = 0;
  // Runs the exported model on the items and keeps what it gives; `threads` is the run's.
  virtual Json TestModel(const TestSetting& setting, const std::vector<LabelledItem>& items,
                         int threads) = 0;

  const ModelConfig& config() const { return options_.model; }
  std::vector<std::string> NamesOf(std::span<const int32_t> labels) const;
  // The model as it stands. Copies the weights.
  Model CurrentModel();

 private:
  // The rows that have labels of a batch's examples, scored.
  struct Scored {
    torch::Tensor logits_NL, labels_N;
    torch::Tensor offsets_B1;  // of each example's rows in them
  };
  Scored Score(const Examples& examples, const std::optional<nn::DropoutKey>& dropout);
  nn::LossSums LossOf(const Scored& scored);

  TrainOptions options_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  int threads_;
  torch::Device device_;
  Uploader uploader_;
  nn::Transformer transformer_;
  nn::LabelSmoothingLoss loss_;
  std::unique_ptr<const LabelledCorpus> train_, valid_, test_;  // test_: on rank 0
};

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_LABEL_TASK_H_
