// How fast training is, beside what the machine could do.
#ifndef ATTEND_TRAIN_SPEED_H_
#define ATTEND_TRAIN_SPEED_H_

#include <cstdint>
#include <functional>

#include "attend/model_config.h"
#include "train/learner.h"
#include "train/task.h"

namespace attend {

// What some updates took. Tokens are ids, eos counted and padding not.
struct TrainingSpeed {
  int64_t updates = 0;
  double seconds = 0;
  double data_seconds = 0;  // of them waiting for batches
  int64_t source_tokens = 0, target_tokens = 0;

  double target_tokens_per_s() const { return static_cast<double>(target_tokens) / seconds; }
};

struct SpeedPlan {
  int64_t warm_up = 1;
  int64_t updates = 5;
};

// Takes `plan.warm_up` updates, and then `plan.updates` that are measured, at a learning rate of 0.
// `now` gives seconds. Examples have columns "source" and "target".
TrainingSpeed MeasureUpdates(const SpeedPlan& plan, TrainingTask* task, Learner* learner,
                             BatchStream* batches, const std::function<double()>& now);

// Operations (a multiplication and an addition are two) of the products that training on so many
// tokens needs: of each matrix with the rows that meet it, forward and twice backward. Products
// inside of attention are left out.
double ProductOperations(const ModelConfig& config, int64_t source_tokens, int64_t target_tokens);

// Operations a second of LibTorch's f32 product of [2048, 1024] with [1024, 1024]: each thread's
// best of several, added up.
double MeasureProductRate(int threads, const std::function<double()>& now);

}  // namespace attend

#endif  // ATTEND_TRAIN_SPEED_H_
