// What the layers use of LibTorch. <torch/torch.h> adds data loaders, optimisers, serialisation and
// all other modules, which every file would pay for when it is compiled.
#ifndef ATTEND_NN_TORCH_H_
#define ATTEND_NN_TORCH_H_

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#endif  // ATTEND_NN_TORCH_H_
