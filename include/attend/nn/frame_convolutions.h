// What a stack reads of sound: log-mel frames through convolutions over time (Whisper, Radford et
// al. 2022, section 2.2).
#ifndef ATTEND_NN_FRAME_CONVOLUTIONS_H_
#define ATTEND_NN_FRAME_CONVOLUTIONS_H_

#include <vector>

#include "attend/model_config.h"
#include "attend/nn/linear_layer.h"
#include "attend/nn/torch.h"

namespace attend::nn {

// Each convolution is a product with windows of rows that stand side by side, and gelu. Recordings
// follow each other without padding: none sees its neighbour.
class FrameConvolutionsImpl : public torch::nn::Module {
 public:
  FrameConvolutionsImpl(const FrameInput& input, int64_t d_model);
  // Of frames [F, mels], recording b's from offsets[b] to offsets[b + 1] (int64, on the CPU), the
  // rows [R, D] that FrameInput::RowsOf counts of each.
  torch::Tensor forward(const torch::Tensor& frames_FM, const torch::Tensor& offsets_B1);

 private:
  FrameInput input_;
  std::vector<LinearLayer> convolutions_;
};
TORCH_MODULE(FrameConvolutions);

}  // namespace attend::nn

#endif  // ATTEND_NN_FRAME_CONVOLUTIONS_H_
