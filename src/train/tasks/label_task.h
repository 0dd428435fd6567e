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
#include "attend/nn/torch.h"
#include "attend/vocabulary.h"
#include "data/labelled_corpus.h"
#include "data/word_dropout.h"
#include "train/set_up.h"
#include "train/tasks/text_task.h"

namespace attend {

// Text that is read, before it is encoded.
struct LabelledTexts {
  std::vector<LabelledItem> train, valid, test;
};

// Reads all files of the options. Throws Error(kInput).
LabelledTexts ReadTexts(const TaskSetup& setup);

struct LabelCorpora {
  TaskTexts texts() const { return {vocabulary, train, valid, test}; }

  std::shared_ptr<const Vocabulary> vocabulary;
  std::shared_ptr<const LabelledCorpus> train, valid, test;  // null: none; test on rank 0 alone
};

// Makes the model's configuration whole, its vocabulary and its head, and encodes the texts. The
// labels are those of the training text, unless the model to fine-tune has its own.
LabelCorpora SetUpLabelCorpora(const TaskSetup& setup, LabelledTexts texts);

// What an option says of the head, or the model to fine-tune where it has labels already; both say
// it afterwards. Throws Error(kConfiguration) where both do before, and differ.
template <class Value>
void TakeHeadOption(const TaskSetup& setup, const char* name, Value* option, Value* of_model) {
  if (setup.options->model.labels.empty()) {
    *of_model = *option;
  } else if (setup.settings->is_given(name) && *of_model != *option) {
    throw Error(ErrorKind::kConfiguration,
                std::string(name) + " is not as in the model to fine-tune; leave it out");
  }
  *option = *of_model;
}

class LabelTask : public TextTask {
 public:
  // The setup's options are complete.
  LabelTask(const TaskSetup& setup, LabelCorpora text);

  const ExampleSource& examples() const override;
  int64_t CountTargets(const Examples& examples) const override;
  double Work(const Example& example) const override;
  ValidationResult Validate() override;
  Json ForExport() const override;
  void Describe(const Log& log) const override;
  Json Plan(const CorpusReport& read) const override;

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
  // Runs the exported model on the items and keeps what it gives.
  virtual Json TestModel(const TestSetting& setting, const std::vector<LabelledItem>& items) = 0;

  nn::LossSums LossOf(const Examples& examples,
                      const std::optional<nn::DropoutKey>& dropout) override;
  Json TestText(const TestSetting& setting) override;
  std::vector<std::string> NamesOf(std::span<const int32_t> labels) const;

 private:
  // The rows that have labels of a batch's examples, scored.
  struct Scored {
    torch::Tensor logits_NL, labels_N;
    torch::Tensor offsets_B1;  // of each example's rows in them
  };
  Scored Score(const Examples& examples, const std::optional<nn::DropoutKey>& dropout);
  nn::LossSums LossOfScored(const Scored& scored);
  // Of each item of the validation text, the scores of its labels, words after words; and the mean
  // loss of a label.
  std::vector<std::vector<float>> ScoreValidation(double* loss);

  LabelCorpora text_;
  std::optional<WordDropout> dropped_;  // the training text, with hidden words
};

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_LABEL_TASK_H_
