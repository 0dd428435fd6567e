// Transcription as a training task: an encoder of log-mel frames and a decoder of text (the Speech
// Transformer), validated by the loss and by the errors of what it writes.
#ifndef ATTEND_TRAIN_TASKS_TRANSCRIPTION_TRANSCRIPTION_TASK_H_
#define ATTEND_TRAIN_TASKS_TRANSCRIPTION_TRANSCRIPTION_TASK_H_

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attend/vocabulary.h"
#include "data/recording_corpus.h"
#include "train/tasks/model_task.h"

namespace attend {

struct Recordings {
  std::shared_ptr<const Vocabulary> vocabulary;
  std::shared_ptr<const RecordingCorpus> train, valid, test;  // null: none; test on rank 0 alone
};

class TranscriptionTask : public ModelTask {
 public:
  // The setup's options are complete.
  TranscriptionTask(const TaskSetup& setup, Recordings recordings);

  const TaskInfo& info() const override;
  const ExampleSource& examples() const override { return *recordings_.train; }
  int64_t CountTargets(const Examples& examples) const override;
  double Work(const Example& example) const override;
  bool CanValidate() const override { return recordings_.valid != nullptr; }
  ValidationResult Validate() override;
  Json Digests() const override;
  Json ForExport() const override;
  void SaveFiles(const std::filesystem::path& directory) const override;
  void Describe(const Log& log) const override;
  Json CheckData(const Log& log) const override;
  Json Plan(const CorpusReport& read) const override;
  Json Test(const TestSetting& setting) override;

 protected:
  nn::LossSums LossOf(const Examples& examples,
                      const std::optional<nn::DropoutKey>& dropout) override;
  nn::DropoutKey KeyOf(const Shard& shard, uint64_t seed) const override;

 private:
  double ValidationLoss();
  // How well the encoder alone tells the texts, for ctc_weight.
  torch::Tensor EncoderLoss(const torch::Tensor& memory_RD, const nn::PackedIds& source,
                            const Examples& examples);
  // What the model writes of each.
  std::vector<std::string> Transcribe(const std::shared_ptr<const Model>& model,
                                      const RecordingCorpus& recordings) const;

  Recordings recordings_;
};

// As TrainableTask::set_up promises.
std::unique_ptr<TrainingTask> SetUpTranscription(const TaskSetup& setup);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TRANSCRIPTION_TRANSCRIPTION_TASK_H_
