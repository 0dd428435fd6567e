// What training tasks share whose text has one vocabulary.
#ifndef ATTEND_TRAIN_TASKS_TEXT_TASK_H_
#define ATTEND_TRAIN_TASKS_TEXT_TASK_H_

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>

#include "attend/vocabulary.h"
#include "train/tasks/model_task.h"
#include "train/tasks/text_files.h"

namespace attend {

class TextTask : public ModelTask {
 public:
  // The setup's options are complete.
  TextTask(const TaskSetup& setup, TaskTexts texts);

  bool CanValidate() const override { return texts_.valid != nullptr; }
  Json Digests() const override;
  void SaveFiles(const std::filesystem::path& directory) const override;
  void Describe(const Log& log) const override;
  // Warns of a vocabulary that does not fit the text.
  Json CheckData(const Log& log) const override;
  Json Plan(const CorpusReport& read) const override;
  Json Test(const TestSetting& setting) override;

 protected:
  nn::DropoutKey KeyOf(const Shard& shard, uint64_t seed) const override;
  // Test() where there is a test text; keeps its outputs, but not what it returns.
  virtual Json TestText(const TestSetting& setting) = 0;

  // What the model's one stack makes of the ids [R, D], on the device; `beside` goes there, too.
  torch::Tensor HiddenOf(const nn::PackedIds& read, const std::optional<nn::DropoutKey>& dropout,
                         std::initializer_list<torch::Tensor*> beside);

  const Vocabulary& vocabulary() const { return *texts_.vocabulary; }

 private:
  TaskTexts texts_;
};

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TEXT_TASK_H_
