// Adam (Kingma and Ba, 2015; "Attention Is All You Need", section 5.3) over a flat buffer, gradient
// clipping, and a moving average of the weights.
#ifndef ATTEND_TRAIN_LOOP_ADAM_H_
#define ATTEND_TRAIN_LOOP_ADAM_H_

#include <cstdint>

#include "attend/nn/torch.h"

namespace attend {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.98;
  double epsilon = 1e-9;
  double weight_decay = 0;  // decoupled: weights shrink by learning rate times this
};

// Everything Adam remembers; a checkpoint keeps it. The moments have the weights' shape.
struct AdamState {
  torch::Tensor first_moment;
  torch::Tensor second_moment;
  int64_t steps = 0;
};

// What becomes of a step, where the device decides it and nobody reads its decision first: scalars
// of f32. Undefined ones leave the step as it is.
struct StepDecision {
  torch::Tensor divisor;  // of the gradients
  torch::Tensor skip;     // 1: weights, moments and average stay as they are; else 0
};

// Of a step whose gradient has this norm, clipped to `clip_norm` (0: not), skipped unless `finite`
// (booleans) are all true.
StepDecision DecideStep(const torch::Tensor& norm, double clip_norm, const torch::Tensor& finite);

AdamState MakeAdamState(const torch::Tensor& weights);

// One step with bias correction; fused into a single pass. Changes weights and state in place.
void AdamStep(const AdamOptions& options, double learning_rate, const torch::Tensor& gradients,
              torch::Tensor* weights, AdamState* state, const StepDecision& decision = {});

// Scales the gradients down to norm `clip_norm` where their norm (given) is above it; 0: never.
void ClipGradients(double norm, double clip_norm, torch::Tensor* gradients);

// average <- d average + (1 - d) weights with d = min(decay, (1 + update) / (10 + update)), so that
// the initial weights fade soon. Updates count from 1.
double EmaDecay(double decay, int64_t update);
void UpdateEma(double decay, int64_t update, const torch::Tensor& weights, torch::Tensor* average,
               const StepDecision& decision = {});

}  // namespace attend

#endif  // ATTEND_TRAIN_LOOP_ADAM_H_
