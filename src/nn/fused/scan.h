// A linear recurrence over the tokens of each sentence.
#ifndef ATTEND_NN_FUSED_SCAN_H_
#define ATTEND_NN_FUSED_SCAN_H_

#include "attend/nn/torch.h"

namespace attend::nn {

// state[t] = keep[t] * state[t - 1] + input[t], from zeros, over [R, D] of which sentence b has
// rows offsets[b] to offsets[b + 1] (int64, on the CPU).
torch::Tensor Scan(const torch::Tensor& keep_RD, const torch::Tensor& input_RD,
                   const torch::Tensor& offsets_B1);

// The same by LibTorch's operations, on any device and of any type.
torch::Tensor PlainPackedScan(const torch::Tensor& keep_RD, const torch::Tensor& input_RD,
                              const torch::Tensor& offsets_B1);
// Over padded sentences.
torch::Tensor PlainScan(const torch::Tensor& keep_BTD, const torch::Tensor& input_BTD);

}  // namespace attend::nn

#endif  // ATTEND_NN_FUSED_SCAN_H_
