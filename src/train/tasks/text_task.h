// What training tasks share whose text has one vocabulary.
#ifndef ATTEND_TRAIN_TASKS_TEXT_TASK_H_
#define ATTEND_TRAIN_TASKS_TEXT_TASK_H_

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>

#include "attend/nn/loss.h"
#include "attend/nn/torch.h"
#include "attend/nn/transformer.h"
#include "attend/vocabulary.h"
#include "train/loop/task.h"
#include "train/loop/transfer.h"
#include "train/set_up.h"
#include "train/tasks/text_files.h"
#include "train/train_options.h"

namespace attend {

class TextTask : public TrainingTask {
 public:
  // The setup's options are complete.
  TextTask(const TaskSetup& setup, TaskTexts texts);

  torch::nn::Module& module() override { return *transformer_; }
  torch::Tensor Loss(const Shard& shard, uint64_t seed) override;
  bool CanValidate() const override { return texts_.valid != nullptr; }
  Json Digests() const override;
  void SaveFiles(const std::filesystem::path& directory) const override;
  void Describe(const Log& log) const override;
  // Warns of a vocabulary that does not fit the text.
  Json CheckData(const Log& log) const override;
  Json Plan(const CorpusReport& read) const override;
  int64_t Choices() const override { return options_.model.head_width(); }
  Json Test(const TestSetting& setting) override;

 protected:
  // `dropout`: TransformerImpl::PackedEncode's or PackedHidden's; none where nothing is dropped.
  virtual nn::LossSums LossOf(const Examples& examples,
                              const std::optional<nn::DropoutKey>& dropout) = 0;
  // What a pass over the shard draws its dropout from.
  virtual nn::DropoutKey KeyOf(const Shard& shard, uint64_t seed) const;
  // Test() where there is a test text; keeps its outputs, but not what it returns.
  virtual Json TestText(const TestSetting& setting) = 0;

  // What the model's one stack makes of the ids [R, D], on the device; `beside` goes there, too.
  torch::Tensor HiddenOf(const nn::PackedIds& read, const std::optional<nn::DropoutKey>& dropout,
                         std::initializer_list<torch::Tensor*> beside);

  const ModelConfig& config() const { return options_.model; }
  const Vocabulary& vocabulary() const { return *texts_.vocabulary; }

  const TrainOptions options_;
  const int threads_;
  const torch::Device device_;
  nn::Transformer transformer_;
  nn::LabelSmoothingLoss loss_;
  Uploader uploader_;

 private:
  TaskTexts texts_;
};

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TEXT_TASK_H_
