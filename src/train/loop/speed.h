// How fast training is, beside what the machine could do.
#ifndef ATTEND_TRAIN_LOOP_SPEED_H_
#define ATTEND_TRAIN_LOOP_SPEED_H_

#include <cstdint>
#include <functional>

#include "train/loop/learner.h"
#include "train/loop/task.h"
#include "train/loop/training_speed.h"

namespace attend {

struct SpeedPlan {
  int64_t warm_up = 1;
  int64_t updates = 5;
  int64_t accumulate = 1;  // batches of an update
};

// Takes `plan.warm_up` updates, and then `plan.updates` that are measured, at a learning rate of 0.
// `now` gives seconds.
TrainingSpeed MeasureUpdates(const SpeedPlan& plan, TrainingTask* task, Learner* learner,
                             BatchStream* batches, const std::function<double()>& now);

// Operations a second of training's products of large matrices in this type on this device: each
// thread's best of several, added up. Of few rows where a CPU without bf16 makes them, slowly.
double MeasureProductRate(int threads, const torch::TensorOptions& options,
                          const std::function<double()>& now);

}  // namespace attend

#endif  // ATTEND_TRAIN_LOOP_SPEED_H_
