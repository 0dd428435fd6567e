// Samples of a model of encoder and decoder, as LibTorch gives them.
#ifndef ATTEND_TRAIN_TASKS_SAMPLES_BY_TORCH_H_
#define ATTEND_TRAIN_TASKS_SAMPLES_BY_TORCH_H_

#include <span>
#include <vector>

#include "attend/nn/sequence_model.h"
#include "model/sample.h"

namespace attend {

// The log-probability of each of target_ids, sample by sample.
std::vector<std::vector<double>> ReplaySamplesByTorch(nn::SequenceModelImpl* model,
                                                      std::span<const Sample> samples);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_SAMPLES_BY_TORCH_H_
