// What a run needs before its first update: its options made whole, its model, its text.
#ifndef ATTEND_TRAIN_SET_UP_H_
#define ATTEND_TRAIN_SET_UP_H_

#include <memory>
#include <optional>

#include "train/checkpoint/train_state.h"
#include "train/distributed/process_group.h"
#include "train/run_settings.h"
#include "train/tasks/translation/translation_scores.h"
#include "train/tasks/translation/translation_task.h"
#include "train/train_options.h"

namespace attend {

struct Setup {
  TrainOptions options;
  std::optional<ParallelText> test;  // on rank 0
  std::unique_ptr<TranslationTask> task;
  RunIdentity identity;
};

// All ranks call it together. Rank 0 alone tells what is so for every rank; the first rank of a
// machine what is so for the machine. Throws Error.
Setup SetUp(TrainOptions options, const RunSettings& settings, ProcessGroup* group);

}  // namespace attend

#endif  // ATTEND_TRAIN_SET_UP_H_
