// Weights at random, for measuring and for tests: a shape is all that speed depends on.
#ifndef ATTEND_MODEL_RANDOM_TENSORS_H_
#define ATTEND_MODEL_RANDOM_TENSORS_H_

#include <cstdint>

#include "attend/model_config.h"
#include "model/tensor_table.h"

namespace attend {

// Normal numbers times `scale` for everything that ExpectedTensors names, and 1 more for the gains
// of norms; equal for equal arguments on every machine.
TensorTable RandomTensors(const ModelConfig& config, uint64_t seed, double scale);

}  // namespace attend

#endif  // ATTEND_MODEL_RANDOM_TENSORS_H_
