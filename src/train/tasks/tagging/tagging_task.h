// Tagging as a training task: a label for each word, validation by the F1 of entities.
#ifndef ATTEND_TRAIN_TASKS_TAGGING_TAGGING_TASK_H_
#define ATTEND_TRAIN_TASKS_TAGGING_TAGGING_TASK_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "search/label_path.h"
#include "train/tasks/label_task.h"

namespace attend {

class TaggingTask : public LabelTask {
 public:
  using LabelTask::LabelTask;

  const TaskInfo& info() const override;

 protected:
  void BeginPrediction() override;
  std::vector<int32_t> Choose(std::span<const float> scores_TL) const override;
  std::map<std::string, double> Figures(const std::vector<LabelledItem>& items,
                                        const Predictions& found) const override;
  ValidationResult::Sample SampleOf(const LabelledItem& item,
                                    const std::vector<int32_t>& found) const override;
  Json TestModel(const TestSetting& setting, const std::vector<LabelledItem>& items) override;

 private:
  LabelTransitions transitions_;
};

// As TrainableTask::set_up promises.
std::unique_ptr<TrainingTask> SetUpTagging(const TaskSetup& setup);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TAGGING_TAGGING_TASK_H_
