#include "attend/nn/initialize.h"

#include <cmath>
#include <numbers>

#include "attend/nn/attention.h"
#include "attend/nn/convolutional_model.h"
#include "attend/nn/head.h"
#include "attend/nn/norm.h"
#include "attend/nn/patch_embedding.h"
#include "attend/nn/positions.h"
#include "attend/nn/recurrent_model.h"
#include "attend/nn/relational_graph.h"

namespace attend::nn {
namespace {

void FillXavierUniform(const torch::Tensor& weight, torch::Generator& generator) {
  const double bound = std::sqrt(6.0 / static_cast<double>(weight.size(0) + weight.size(1)));
  weight.uniform_(-bound, bound, generator);
}

// N(0, 1/width): times sqrt(width) these rows have unit variance.
void FillEmbedding(const torch::Tensor& weight, torch::Generator& generator) {
  weight.normal_(0, 1 / std::sqrt(static_cast<double>(weight.size(1))), generator);
}

// U(-1/sqrt(out), 1/sqrt(out)), as PyTorch's. An LSTM begins by keeping what it has: the bias of
// its forget gate is 1 (Jozefowicz et al. 2015).
void FillRecurrent(RecurrentLayerImpl& layer, torch::Generator& generator) {
  const int64_t out = layer.weight_hidden.size(1);
  const double bound = 1 / std::sqrt(static_cast<double>(out));
  layer.weight_input.uniform_(-bound, bound, generator);
  layer.weight_hidden.uniform_(-bound, bound, generator);
  layer.bias_input.zero_();
  layer.bias_hidden.zero_();
  if (layer.lstm()) layer.bias_input.narrow(0, out, out).fill_(1);
}

// Gates halve what passes and dropout scales it: with these weights the outputs have the inputs'
// variance (Gehring et al. 2017, section 3.5).
void FillConvolution(GatedConvolutionImpl& layer, torch::Generator& generator) {
  const auto inputs = static_cast<double>(layer.weight.size(1));
  layer.weight.normal_(0, std::sqrt(4 * (1 - layer.dropout()) / inputs), generator);
  if (layer.columns.defined())
    layer.columns.normal_(0, 1 / std::sqrt(static_cast<double>(layer.columns.size(0))), generator);
  layer.bias.zero_();
}

// Each relation's matrix has about the variance of one that is Xavier uniform by itself.
void FillRelational(RelationalLayerImpl& layer, torch::Generator& generator) {
  const auto width = static_cast<double>(layer.bases.size(1)),
             count = static_cast<double>(layer.coefficients.size(1));
  layer.bases.normal_(0, 1 / std::sqrt(width), generator);
  layer.coefficients.normal_(0, 1 / std::sqrt(count), generator);
}

void InitializeOne(torch::nn::Module& module, torch::Generator& generator) {
  if (auto* linear = module.as<torch::nn::LinearImpl>()) {
    FillXavierUniform(linear->weight, generator);
    if (linear->bias.defined()) linear->bias.zero_();
    auto* patches = module.as<PatchEmbeddingImpl>();
    if (patches != nullptr && patches->class_token.defined())
      FillEmbedding(patches->class_token.unsqueeze(0), generator);
  } else if (auto* embedding = module.as<torch::nn::EmbeddingImpl>()) {
    FillEmbedding(embedding->weight, generator);
  } else if (auto* positions = module.as<LearnedPositionalEncodingImpl>()) {
    FillEmbedding(positions->weight, generator);
  } else if (auto* recurrent = module.as<RecurrentLayerImpl>()) {
    FillRecurrent(*recurrent, generator);
  } else if (auto* convolution = module.as<GatedConvolutionImpl>()) {
    FillConvolution(*convolution, generator);
  } else if (auto* head = module.as<HeadImpl>()) {
    if (head->weight.defined()) FillEmbedding(head->weight, generator);
    for (const torch::Tensor& zeros :
         {head->bias, head->crf.begin_L, head->crf.end_L, head->crf.next_LL})
      if (zeros.defined()) zeros.zero_();
  } else if (auto* relational = module.as<RelationalLayerImpl>()) {
    FillRelational(*relational, generator);
  } else if (auto* relative = module.as<RelativePositionBiasImpl>()) {
    relative->weight.zero_();
  } else if (auto* norm = module.as<NormImpl>()) {
    norm->weight.fill_(1);
    if (norm->bias.defined()) norm->bias.zero_();
  }
}

// Query, key and value count as one [out, in] matrix of three times the rows. With the full bound
// of each by itself a post-norm model starts with attention so sharp that it learns several times
// slower.
void ScaleProjections(torch::nn::Module& module) {
  auto* attention = module.as<MultiHeadAttentionImpl>();
  if (attention == nullptr) return;
  for (const LinearLayer& part : {attention->query, attention->key, attention->value}) {
    part->weight.mul_(std::numbers::sqrt2 / 2);
  }
}

}  // namespace

void InitializeWeights(torch::nn::Module& module, torch::Generator generator) {
  torch::NoGradGuard no_grad;
  const std::vector<std::shared_ptr<torch::nn::Module>> parts =
      module.modules(/*include_self=*/false);
  InitializeOne(module, generator);
  for (const auto& part : parts) InitializeOne(*part, generator);
  ScaleProjections(module);
  for (const auto& part : parts) ScaleProjections(*part);
}

}  // namespace attend::nn
