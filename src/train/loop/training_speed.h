// What updates took and what they compute. No Torch here.
#ifndef ATTEND_TRAIN_LOOP_TRAINING_SPEED_H_
#define ATTEND_TRAIN_LOOP_TRAINING_SPEED_H_

#include <cstdint>

#include "attend/model_config.h"

namespace attend {

// What some updates took. Tokens are ids, eos counted and padding not.
struct TrainingSpeed {
  int64_t updates = 0;
  double seconds = 0;
  double data_seconds = 0;   // of them waiting for batches
  int64_t input_tokens = 0;  // that the encoder reads, or a decoder alone
  int64_t target_tokens = 0;
  double operations = 0;  // of products with weights: TrainingTask::Work

  double target_tokens_per_s() const { return static_cast<double>(target_tokens) / seconds; }
};

// Operations (as CountOperations counts them) of the products with weights that training needs: an
// encoder reads `source_tokens`, a decoder and the head `target_tokens`. They grow with the tokens
// alone, for products inside of attention are left out.
double ProductOperations(const ModelConfig& config, int64_t source_tokens, int64_t target_tokens);

}  // namespace attend

#endif  // ATTEND_TRAIN_LOOP_TRAINING_SPEED_H_
