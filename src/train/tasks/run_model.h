// The model of a run, as every task makes one.
#ifndef ATTEND_TRAIN_TASKS_RUN_MODEL_H_
#define ATTEND_TRAIN_TASKS_RUN_MODEL_H_

#include <memory>
#include <string>

#include "attend/nn/sequence_model.h"
#include "attend/nn/torch.h"
#include "attend/nn/transformer.h"
#include "model/model_directory.h"
#include "model/sample.h"
#include "train/train_options.h"

namespace attend {

// Throws Error(kConfiguration) for all of a configuration that no vocabulary decides: better known
// before one is made.
void CheckShape(ModelConfig model);

// With its initial weights, on the device. Throws Error(kRuntime) where it is too large for the
// memory.
nn::Transformer MakeTransformer(const TrainOptions& options, const torch::Device& device);
std::shared_ptr<nn::SequenceModelImpl> MakeSequenceModel(const TrainOptions& options,
                                                         const torch::Device& device);
// A model's module, with its weights, to run.
std::shared_ptr<nn::SequenceModelImpl> SequenceModelOf(const Model& model,
                                                       const torch::Device& device);

// The parameters of a module as they stand, by their names in it after `prefix`; adapters are added
// to what they belong to.
TensorTable CopyTensors(const torch::nn::Module& module, const std::string& prefix = "");
// Configuration and weights as they stand.
Model CopyModel(const nn::SequenceModelImpl& module);

inline constexpr int64_t kExportedSamples = 8;  // at most, that a model proves itself on
// Adds to the sample what a step chose, with its log-probability and the largest of the step's
// logits [V], of f64.
void AddStep(const torch::Tensor& logits_V, int32_t chosen, Sample* sample);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_RUN_MODEL_H_
