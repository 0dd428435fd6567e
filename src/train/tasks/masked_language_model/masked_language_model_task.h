// A masked language model as a training task (Devlin et al. 2019): an encoder, cross-entropy of the
// hidden tokens, validation by their perplexity and by how many are found.
#ifndef ATTEND_TRAIN_TASKS_MASKED_LANGUAGE_MODEL_MASKED_LANGUAGE_MODEL_TASK_H_
#define ATTEND_TRAIN_TASKS_MASKED_LANGUAGE_MODEL_MASKED_LANGUAGE_MODEL_TASK_H_

#include <memory>
#include <optional>

#include "data/masked_corpus.h"
#include "train/tasks/plain_text.h"
#include "train/tasks/text_task.h"

namespace attend {

class MaskedLanguageModelTask : public TextTask {
 public:
  // The setup's options are complete.
  MaskedLanguageModelTask(const TaskSetup& setup, PlainText text);

  const TaskInfo& info() const override;
  const ExampleSource& examples() const override { return *train_; }
  int64_t CountTargets(const Examples& examples) const override;
  double Work(const Example& example) const override;
  ValidationResult Validate() override;
  Json ForExport() const override;

 protected:
  nn::LossSums LossOf(const Examples& examples,
                      const std::optional<nn::DropoutKey>& dropout) override;
  Json TestText(const TestSetting& setting) override;

 private:
  // Hidden tokens of some examples: what the output projection reads for each, and what they are.
  struct Hidden {
    torch::Tensor input_RD, tokens_R;
  };
  Hidden HiddenTokens(const Examples& examples, const std::optional<nn::DropoutKey>& dropout);
  nn::LossSums LossOfHidden(const Hidden& hidden);
  std::map<std::string, double> FiguresOf(const ExampleTable& contexts);
  void ShowSamples(ValidationResult* result);

  PlainText text_;
  std::unique_ptr<const MaskedCorpus> train_, valid_;
  std::optional<ExampleTable> valid_contexts_, test_contexts_;
};

// As TrainableTask::set_up promises.
std::unique_ptr<TrainingTask> SetUpMaskedLanguageModel(const TaskSetup& setup);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_MASKED_LANGUAGE_MODEL_MASKED_LANGUAGE_MODEL_TASK_H_
