// A language model as a training task: the decoder alone, cross-entropy of the next token,
// validation by perplexity and by texts that the model writes.
#ifndef ATTEND_TRAIN_TASKS_LANGUAGE_MODEL_LANGUAGE_MODEL_TASK_H_
#define ATTEND_TRAIN_TASKS_LANGUAGE_MODEL_LANGUAGE_MODEL_TASK_H_

#include <memory>
#include <optional>
#include <vector>

#include "model/model_directory.h"
#include "train/tasks/plain_text.h"
#include "train/tasks/text_task.h"

namespace attend {

class LanguageModelTask : public TextTask {
 public:
  // The setup's options are complete.
  LanguageModelTask(const TaskSetup& setup, PlainText text);

  const TaskInfo& info() const override;
  const ExampleSource& examples() const override { return *text_.train; }
  int64_t CountTargets(const Examples& examples) const override;
  double Work(const Example& example) const override;
  ValidationResult Validate() override;
  Json ForExport() const override;
  void Describe(const Log& log) const override;

 protected:
  nn::LossSums LossOf(const Examples& examples,
                      const std::optional<nn::DropoutKey>& dropout) override;
  Json TestText(const TestSetting& setting) override;

 private:
  // Summed negative log-probability of the validation text's tokens, without smoothing.
  double ValidationSum();
  void WriteSamples(ValidationResult* result);
  // The model as it stands, with its vocabulary. Copies the weights.
  std::shared_ptr<Model> CurrentModel();

  PlainText text_;
  std::optional<ExampleTable> valid_contexts_;
};

// As TrainableTask::set_up promises.
std::unique_ptr<TrainingTask> SetUpLanguageModel(const TaskSetup& setup);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_LANGUAGE_MODEL_LANGUAGE_MODEL_TASK_H_
