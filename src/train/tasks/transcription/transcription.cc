#include "train/tasks/transcription/transcription.h"

#include "train/tasks/transcription/transcription_export.h"
#include "train/tasks/transcription/transcription_task.h"
#include "train/tasks/transcription/transcription_train_options.h"

namespace attend {
namespace {

TaskInfo DescribeTranscription() {
  TaskInfo info;
  info.name = "transcription";
  info.encoder = info.decoder = true;
  info.preset = "speech-tiny";
  info.reads_sound = true;
  info.validation_options = "valid_recordings";
  info.validation = {{"loss", "loss"}, {"wer", "WER"}, {"cer", "CER"}};
  info.charts = {{"Validation errors", "percent of words or characters", {"wer", "cer"}, {}}};
  info.test = {{"wer", "WER"}, {"cer", "CER"}, {"exact_match", "exact match", true}};
  info.samples = "Sample transcripts";
  info.sample_input = "recording";
  return info;
}

}  // namespace

const TrainableTask& TrainableTranscription() {
  static const TrainableTask task{DescribeTranscription(),
                                  []() -> std::unique_ptr<TaskOptions> {
                                    return std::make_unique<TranscriptionTrainOptions>();
                                  },
                                  SetUpTranscription, CompleteTranscriptionModel};
  return task;
}

}  // namespace attend
