// What a trainer needs of the outside world, and what it answers. No Torch here.
#ifndef ATTEND_TRAIN_LOOP_TRAINER_EFFECTS_H_
#define ATTEND_TRAIN_LOOP_TRAINER_EFFECTS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "base/log.h"

namespace attend {

// What a person waits for.
struct ProgressReport {
  int64_t update = 0, max_updates = 0, epoch = 0;
  double loss = 0, learning_rate = 0;
  double target_tokens_per_s = 0;
  double flops = 0;       // floating-point operations a second of the products that training needs
  double peak_flops = 0;  // what the devices could do at most; 0: not known
  double seconds_left = 0;
};

// The outside world, so that tests need none of it.
struct TrainerEffects {
  Log log = NoLog();
  std::function<double()> now = [] { return 0.0; };             // seconds since 1970
  double peak_flops = 0;                                        // as ProgressReport's
  std::function<bool()> stop_requested = [] { return false; };  // SIGINT or SIGTERM came
  std::function<void(const ProgressReport&)> progress = [](const ProgressReport&) {};
};

struct TrainOutcome {
  bool finished = false;  // else it was asked to stop, and a checkpoint stands
  std::string reason;
};

}  // namespace attend

#endif  // ATTEND_TRAIN_LOOP_TRAINER_EFFECTS_H_
