// What a stack reads of pictures (ViT, Dosovitskiy et al. 2021, section 3.1).
#ifndef ATTEND_NN_PATCH_EMBEDDING_H_
#define ATTEND_NN_PATCH_EMBEDDING_H_

#include "attend/model_config.h"
#include "attend/nn/linear_layer.h"
#include "attend/nn/torch.h"

namespace attend::nn {

// Each patch of a picture times a matrix, after a learned vector where the configuration has a
// class token.
class PatchEmbeddingImpl : public LinearLayerImpl {
 public:
  PatchEmbeddingImpl(const PatchInput& input, int64_t d_model);
  // Of whole pictures, E numbers a patch: [B, rows, D]. Positions are not added.
  torch::Tensor forward(const torch::Tensor& patches_PE);

  torch::Tensor class_token;  // [D]; undefined without

 private:
  int64_t patches_;  // of a picture
};
TORCH_MODULE(PatchEmbedding);

}  // namespace attend::nn

#endif  // ATTEND_NN_PATCH_EMBEDDING_H_
