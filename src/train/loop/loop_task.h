// The part of a training task that the loop does not need, for tests of the loop.
#ifndef ATTEND_TRAIN_LOOP_LOOP_TASK_H_
#define ATTEND_TRAIN_LOOP_LOOP_TASK_H_

#include "train/loop/task.h"

namespace attend {

class LoopTask : public TrainingTask {
 public:
  const TaskInfo& info() const override {
    static const TaskInfo info{.name = "translation",  // whose options the tests have
                               .validation = {{"loss", "loss"}, {"perplexity", "perplexity"}}};
    return info;
  }
  Json Digests() const override { return Json::object(); }
  Json ForExport() const override { return Json::object(); }
  void SaveFiles(const std::filesystem::path& /*directory*/) const override {}
  void Describe(const Log& /*log*/) const override {}
  Json CheckData(const Log& /*log*/) const override { return Json::object(); }
  Json Plan(const CorpusReport& /*read*/) const override { return Json::object(); }
  int64_t Choices() const override { return 2; }
  Json Test(const TestSetting& /*setting*/) override { return Json(); }
};

}  // namespace attend

#endif  // ATTEND_TRAIN_LOOP_LOOP_TASK_H_
