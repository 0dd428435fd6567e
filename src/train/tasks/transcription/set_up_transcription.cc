#include <algorithm>
#include <utility>

#include "attend/error.h"
#include "base/thread_pool.h"
#include "text/lines.h"
#include "train/tasks/run_model.h"
#include "train/tasks/text_files.h"
#include "train/tasks/transcription/transcription_task.h"
#include "train/tasks/transcription/transcription_train_options.h"

namespace attend {
namespace {

std::string MakeVocabulary(const TaskSetup& setup, const std::vector<RecordingItem>& items) {
  size_t item = 0;
  const NextLine next = [&](std::string* line) {
    if (item == items.size()) return false;
    *line = items[item++].text;
    return true;
  };
  return TrainVocabulary(next, TranscriptionOf(*setup.options).vocabulary.made,
                         static_cast<uint64_t>(setup.options->seed), setup.log);
}

// What does not hang on the vocabulary.
void CompleteShape(const TaskSetup& setup) {
  ModelConfig& model = setup.options->model;
  model.head = HeadKind::kVocabulary;
  if (setup.settings->is_given("tie_source_target") && model.tie_source_target) {
    throw Error(ErrorKind::kConfiguration,
                "tie_source_target is on, but an encoder of sound has no embedding; leave it out");
  }
  model.tie_source_target = false;
  ModelConfig shape = model;
  shape.source_vocab_size = 0;
  const SpecialIds& ids = shape.special_ids;
  shape.target_vocab_size = 1 + std::max({ids.pad, ids.unk, ids.bos, ids.eos});
  CheckModelConfig(shape);
}

// The encoder's rows go through the output projection, which writes padding where nothing is said.
void CheckCtc(const TrainOptions& options) {
  if (TranscriptionOf(options).ctc_weight > 0 && options.model.special_ids.pad < 0) {
    throw Error(ErrorKind::kConfiguration,
                "ctc_weight is given, but the vocabulary has no token for padding");
  }
}

RecordingCorpusOptions ReadingOf(const TrainOptions& options) {
  const ModelConfig& model = options.model;
  RecordingCorpusOptions reading;
  reading.input = *model.frames;
  reading.around = model.TargetFrame();
  reading.seed = static_cast<uint64_t>(options.seed);
  reading.augmentation = TranscriptionOf(options).augmentation;
  reading.max_seconds = TranscriptionOf(options).max_seconds;
  if (model.encoder->positions == PositionKind::kLearned)
    reading.max_rows = model.encoder->max_positions - model.encoder->position_offset;
  reading.max_tokens = model.MaxTargetTokens();
  return reading;
}

}  // namespace

std::unique_ptr<TrainingTask> SetUpTranscription(const TaskSetup& setup) {
  TrainOptions& options = *setup.options;
  ModelConfig& model = options.model;
  TranscriptionTrainOptions& own = TranscriptionOf(options);
  CompleteShape(setup);
  for (const auto* tables : {&own.train, &own.valid, &own.test})
    CheckReadable(*tables, FormatCheck::kText);
  std::vector<RecordingItem> items = ReadRecordings(own.train);
  Recordings recordings;
  recordings.vocabulary =
      VocabularyOf(setup, &own.vocabulary, [&] { return MakeVocabulary(setup, items); });
  model.special_ids = recordings.vocabulary->special_ids();
  model.source_vocab_size = 0;
  model.target_vocab_size = recordings.vocabulary->size();
  CheckModelConfig(model);
  CheckCtc(options);
  const RecordingCorpusOptions reading = ReadingOf(options);
  ThreadPool pool(setup.settings->threads);
  const auto corpus = [&](std::vector<RecordingItem> some, const RecordingCorpusOptions& how) {
    auto made = std::make_shared<const RecordingCorpus>(std::move(some), *recordings.vocabulary,
                                                        how, &pool);
    if (const std::string left_out = made->LeftOutMessage(); !left_out.empty())
      setup.log(LogLevel::kWarning, left_out);
    return made;
  };
  recordings.train = corpus(std::move(items), reading);
  if (!own.valid.empty()) recordings.valid = corpus(ReadRecordings(own.valid), reading);
  RecordingCorpusOptions testing = reading;
  testing.any_length = true;
  if (!own.test.empty() && setup.group->first())
    recordings.test = corpus(ReadRecordings(own.test), testing);
  return std::make_unique<TranscriptionTask>(setup, std::move(recordings));
}

}  // namespace attend
