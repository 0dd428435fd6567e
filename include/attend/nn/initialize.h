// Initial weights of the layers and models.
#ifndef ATTEND_NN_INITIALIZE_H_
#define ATTEND_NN_INITIALIZE_H_

#include "attend/nn/torch.h"

namespace attend::nn {

// Fills a module's parameters from `generator`, in the order of their names in the module:
// projections Xavier uniform (query, key and value with 1/sqrt(2) of the bound), embeddings,
// learned positions and the output projection N(0, 1/d_model), biases, those of distances too, 0,
// norms 1 and 0;
// recurrent layers and convolutions as their papers say.
void InitializeWeights(torch::nn::Module& module, torch::Generator generator);

}  // namespace attend::nn

#endif  // ATTEND_NN_INITIALIZE_H_
