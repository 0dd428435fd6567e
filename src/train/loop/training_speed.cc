#include "train/loop/training_speed.h"

#include "model/operations.h"

namespace attend {

double ProductOperations(const ModelConfig& config, int64_t source_tokens, int64_t target_tokens) {
  double forward = 0;
  for (const OperationPart& part :
       CountOperations(config, {source_tokens, target_tokens, target_tokens})) {
    if (part.has_weights) forward += part.forward;
  }
  return kForwardAndBackward * forward;
}

}  // namespace attend
