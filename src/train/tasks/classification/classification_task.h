// Classification of texts as a training task: validation by accuracy and macro F1.
#ifndef ATTEND_TRAIN_TASKS_CLASSIFICATION_CLASSIFICATION_TASK_H_
#define ATTEND_TRAIN_TASKS_CLASSIFICATION_CLASSIFICATION_TASK_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "train/tasks/label_task.h"

namespace attend {

class ClassificationTask : public LabelTask {
 public:
  using LabelTask::LabelTask;

  const TaskInfo& info() const override;

 protected:
  std::vector<int32_t> Choose(std::span<const float> scores_L) const override;
  std::map<std::string, double> Figures(const std::vector<LabelledItem>& items,
                                        const Predictions& found) const override;
  ValidationResult::Sample SampleOf(const LabelledItem& item,
                                    const std::vector<int32_t>& found) const override;
  Json TestModel(const TestSetting& setting, const std::vector<LabelledItem>& items) override;
};

// As TrainableTask::set_up promises.
std::unique_ptr<TrainingTask> SetUpClassification(const TaskSetup& setup);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_CLASSIFICATION_CLASSIFICATION_TASK_H_
