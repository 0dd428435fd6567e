// Classification of pictures as a training task: an encoder of patches whose head labels them
// (ViT, Dosovitskiy et al. 2021), validated by accuracy and macro F1.
#ifndef ATTEND_TRAIN_TASKS_CLASSIFICATION_PICTURE_TASK_H_
#define ATTEND_TRAIN_TASKS_CLASSIFICATION_PICTURE_TASK_H_

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "data/picture_corpus.h"
#include "train/export.h"
#include "train/tasks/model_task.h"

namespace attend {

struct PictureCorpora {
  std::shared_ptr<const PictureCorpus> train, valid, test;  // null: none; test on rank 0 alone
};

class PictureTask : public ModelTask {
 public:
  // The setup's options are complete.
  PictureTask(const TaskSetup& setup, PictureCorpora pictures);

  const TaskInfo& info() const override;
  const ExampleSource& examples() const override { return *pictures_.train; }
  int64_t CountTargets(const Examples& examples) const override { return examples.size(); }
  double Work(const Example& example) const override;
  bool CanValidate() const override { return pictures_.valid != nullptr; }
  ValidationResult Validate() override;
  Json Digests() const override;
  Json ForExport() const override;
  void SaveFiles(const std::filesystem::path& /*directory*/) const override {}
  void Describe(const Log& log) const override;
  Json CheckData(const Log& log) const override;
  Json Plan(const CorpusReport& read) const override;
  Json Test(const TestSetting& setting) override;

 protected:
  nn::LossSums LossOf(const Examples& examples,
                      const std::optional<nn::DropoutKey>& dropout) override;
  nn::DropoutKey KeyOf(const Shard& shard, uint64_t seed) const override;

 private:
  torch::Tensor LogitsOf(const Examples& examples, const std::optional<nn::DropoutKey>& dropout);

  PictureCorpora pictures_;
};

// As TrainableTask::set_up and complete_model promise.
std::unique_ptr<TrainingTask> SetUpPictures(const TaskSetup& setup);
void CompletePictureModel(const ExportedRun& run, Model* model);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_CLASSIFICATION_PICTURE_TASK_H_
