// Embeddings with their scale, positions and dropout in one pass, and the gradient by scattered
// sums in the order of the rows. The plain version, made of LibTorch's operations, is the oracle of
// the fused one's tests and what runs where there are no kernels.
#ifndef ATTEND_NN_FUSED_EMBEDDING_H_
#define ATTEND_NN_FUSED_EMBEDDING_H_

#include "attend/nn/dropout.h"
#include "attend/nn/torch.h"

namespace attend::nn {

// The rows of `table_VD` at ids, times `scale`, plus the rows of `positions_TD` (may be undefined)
// at positions_R.
struct EmbeddingInputs {
  torch::Tensor table_VD, positions_TD, ids_R, positions_R;
  double scale = 1;
};

// [R, D].
torch::Tensor PlainEmbedding(const EmbeddingInputs& inputs, const DropoutSite& site);
torch::Tensor FusedEmbedding(const EmbeddingInputs& inputs, const DropoutSite& site);

}  // namespace attend::nn

#endif  // ATTEND_NN_FUSED_EMBEDDING_H_
