// Learning rates by update number. Plain values; safe to use from many threads.
#ifndef ATTEND_NN_SCHEDULE_H_
#define ATTEND_NN_SCHEDULE_H_

#include <cstdint>

namespace attend::nn {

enum class ScheduleKind { kNoam, kInverseSqrt, kCosine, kConstant };

// What decides the rate. Updates count from 1, as in section 5.3.
struct ScheduleConfig {
  ScheduleKind kind = ScheduleKind::kNoam;
  double peak_learning_rate = 1e-3;  // all but noam; noam multiplies its rate by `noam_scale`
  double noam_scale = 1;
  int64_t warmup_updates = 4000;
  int64_t d_model = 512;         // noam
  int64_t max_updates = 100000;  // cosine: the update at which the rate reaches its end
  double end_learning_rate = 0;  // cosine
};

// The paper's: d_model^-0.5 * min(step^-0.5, step * warmup^-1.5). Precondition: step >= 1, warmup
// >= 1.
double NoamSchedule(int64_t step, int64_t d_model, int64_t warmup_updates);

// Rises in a line to the peak at `warmup_updates`, then falls as step^-0.5. Without warm-up it
// falls from the peak at step 1.
double InverseSqrtSchedule(int64_t step, double peak_learning_rate, int64_t warmup_updates);

// Rises in a line to the peak at `warmup_updates`, then falls along half a cosine to the end rate
// at `max_updates` and stays.
double CosineSchedule(int64_t step, double peak_learning_rate, double end_learning_rate,
                      int64_t warmup_updates, int64_t max_updates);

// Rises in a line to the peak at `warmup_updates` and stays.
double ConstantSchedule(int64_t step, double peak_learning_rate, int64_t warmup_updates);

// The rate of update `step` by the schedule that `config` names. Throws Error(kUsage) for a step
// below 1.
double LearningRate(const ScheduleConfig& config, int64_t step);

}  // namespace attend::nn

#endif  // ATTEND_NN_SCHEDULE_H_
