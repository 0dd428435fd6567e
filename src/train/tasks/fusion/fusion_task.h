// Fusion as a training task: labels of items with a text, a picture and links to nodes of a graph,
// validated by accuracy and macro F1.
#ifndef ATTEND_TRAIN_TASKS_FUSION_FUSION_TASK_H_
#define ATTEND_TRAIN_TASKS_FUSION_FUSION_TASK_H_

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "attend/nn/fusion_model.h"
#include "attend/nn/loss.h"
#include "attend/vocabulary.h"
#include "data/item_corpus.h"
#include "train/loop/task.h"
#include "train/set_up.h"

namespace attend {

struct ItemCorpora {
  std::shared_ptr<const Vocabulary> vocabulary;
  KnowledgeGraph graph;                                  // empty: none
  std::shared_ptr<const ItemCorpus> train, valid, test;  // null: none; test on rank 0 alone
};

class FusionTask : public TrainingTask {
 public:
  // The setup's options are complete.
  FusionTask(const TaskSetup& setup, ItemCorpora items);

  const TaskInfo& info() const override;
  const ExampleSource& examples() const override { return *items_.train; }
  torch::nn::Module& module() override { return *model_; }
  int64_t CountTargets(const Examples& examples) const override { return examples.size(); }
  double Work(const Example& example) const override;
  torch::Tensor Loss(const Shard& shard, uint64_t seed) override;
  bool CanValidate() const override { return items_.valid != nullptr; }
  ValidationResult Validate() override;
  Json Digests() const override;
  Json ForExport() const override;
  void SaveFiles(const std::filesystem::path& directory) const override;
  void Describe(const Log& log) const override;
  Json CheckData(const Log& log) const override;
  Json Plan(const CorpusReport& read) const override;
  int64_t Choices() const override { return options_.model.head_width(); }
  Json Test(const TestSetting& setting) override;

 private:
  const PatchInput& patches() const { return options_.model.fusion->patches; }

  const TrainOptions options_;
  const int threads_;
  ItemCorpora items_;
  nn::FusionModel model_;
  nn::LabelSmoothingLoss loss_;
  double token_work_, picture_work_;  // of a token more, and of a picture
};

// As TrainableTask::set_up promises.
std::unique_ptr<TrainingTask> SetUpFusion(const TaskSetup& setup);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_FUSION_FUSION_TASK_H_
