#include "attend/nn/stacks.h"

#include <cmath>

#include "attend/error.h"
#include "nn/fused/embedding.h"
#include "nn/residual.h"

namespace attend::nn {

StackImpl::StackImpl(const StackConfig& config, const Dropout& dropout, int64_t vocab_size,
                     bool both_ways)
    : embedding_scale_(config.scale_embedding ? std::sqrt(static_cast<double>(config.d_model)) : 1),
      embedding_dropout_(dropout.embedding),
      attention_window_(config.attention_window) {
  if (vocab_size > 0) {
    embedding = register_module("embedding", torch::nn::Embedding(vocab_size, config.d_model));
  }
  if (config.embedding_norm) embedding_norm = register_module("embedding_norm", Norm(config));
  if (config.positions == PositionKind::kSinusoidal) {
    sinusoidal_positions = register_module(
        "positions", SinusoidalPositionalEncoding(config.d_model, config.position_convention,
                                                  config.position_offset));
  } else if (config.positions == PositionKind::kLearned) {
    learned_positions = register_module(
        "positions",
        LearnedPositionalEncoding(config.max_positions, config.d_model, config.position_offset));
  } else if (config.positions == PositionKind::kRelative) {
    relative_bias = register_module("relative_bias", RelativePositionBias(config, both_ways));
  }
  layers = torch::nn::ModuleList();
}

void StackImpl::RegisterLayers(const StackConfig& config) {
  register_module("layers", layers);
  if (config.norm_place == NormPlace::kPre) norm = register_module("norm", Norm(config));
}

torch::Tensor StackImpl::Embed(const torch::Tensor& ids_BT, const torch::Tensor& weight_VD,
                               DropoutStream* dropout) {
  const int64_t length = ids_BT.size(1);
  const torch::Tensor places_BT = torch::arange(length, ids_BT.options()).expand_as(ids_BT);
  return Embed(PackedIds{ids_BT.flatten(), places_BT.flatten(), {}, length}, weight_VD, dropout)
      .unflatten(0, ids_BT.sizes());
}

torch::Tensor StackImpl::Embed(const PackedIds& ids, const torch::Tensor& weight_VD,
                               DropoutStream* dropout) {
  if (!weight_VD.defined() && embedding.is_empty()) {
    throw Error(ErrorKind::kUsage,
                "Embed was called on a stack without vocabulary; give it a weight");
  }
  const torch::Tensor& table_VD = weight_VD.defined() ? weight_VD : embedding->weight;
  torch::Tensor positions_TD;
  if (!sinusoidal_positions.is_empty()) {
    positions_TD = sinusoidal_positions->Table(ids.longest, table_VD.options());
  }
  if (!learned_positions.is_empty()) positions_TD = learned_positions->Table(ids.longest);
  const EmbeddingInputs inputs{table_VD, positions_TD, ids.ids_R, ids.positions_R,
                               embedding_scale_};
  const DropoutSite site = NextSite(dropout, embedding_dropout_, is_training());
  if (embedding_norm.is_empty()) return FusedEmbedding(inputs, site);
  return AddDropped({}, embedding_norm(FusedEmbedding(inputs, {})), site);
}

AttentionMask StackImpl::OfSelfAttention(const AttentionMask& given, const torch::Tensor& x_BTD) {
  AttentionMask mask = given.Near(attention_window_);
  if (relative_bias.is_empty()) return mask;
  int64_t longest = 0;
  if (!mask.packed()) {
    longest = x_BTD.size(1);
  } else if (mask.query_offsets_B1.size(0) > 1) {
    longest = mask.query_offsets_B1.diff().max().item<int64_t>();
  }
  mask.bias_HTT = relative_bias(longest);
  return mask;
}

torch::Tensor StackImpl::Finish(const torch::Tensor& x_BTD, StackTrace* trace) {
  const torch::Tensor output_BTD = norm.is_empty() ? x_BTD : norm(x_BTD);
  if (trace != nullptr) trace->output_BTD = output_BTD;
  return output_BTD;
}

namespace {

// Where layer `position` writes what it computed, or nowhere.
LayerTrace* Begin(StackTrace* trace, size_t position, const torch::Tensor& x_BTD) {
  if (trace == nullptr) return nullptr;
  if (position == 0) *trace = {.embedded_BTD = x_BTD, .layers = {}, .output_BTD = {}};
  trace->layers.resize(position + 1);
  return &trace->layers.back();
}

}  // namespace

TransformerEncoderImpl::TransformerEncoderImpl(const StackConfig& config, const Dropout& dropout,
                                               int64_t vocab_size)
    : StackImpl(config, dropout, vocab_size, /*both_ways=*/true) {
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    layers->push_back(EncoderLayer(config, dropout));
  }
  RegisterLayers(config);
}

torch::Tensor TransformerEncoderImpl::forward(torch::Tensor x_BSD, const AttentionMask& mask,
                                              StackTrace* trace, DropoutStream* dropout) {
  const AttentionMask own = OfSelfAttention(mask, x_BSD);
  for (size_t i = 0; i < layers->size(); ++i) {
    LayerTrace* layer_trace = Begin(trace, i, x_BSD);
    x_BSD = layers->at<EncoderLayerImpl>(i).forward(x_BSD, own, layer_trace, dropout);
  }
  return Finish(x_BSD, trace);
}

TransformerDecoderImpl::TransformerDecoderImpl(const StackConfig& config, const Dropout& dropout,
                                               int64_t vocab_size, bool with_cross_attention)
    : StackImpl(config, dropout, vocab_size, /*both_ways=*/false) {
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    layers->push_back(DecoderLayer(config, dropout, with_cross_attention));
  }
  RegisterLayers(config);
}

torch::Tensor TransformerDecoderImpl::forward(torch::Tensor x_BTD, const AttentionMask& self_mask,
                                              const Memory& memory, StackTrace* trace,
                                              DropoutStream* dropout) {
  const AttentionMask own = OfSelfAttention(self_mask, x_BTD);
  for (size_t i = 0; i < layers->size(); ++i) {
    LayerTrace* layer_trace = Begin(trace, i, x_BTD);
    x_BTD = layers->at<DecoderLayerImpl>(i).forward(x_BTD, own, memory, layer_trace, dropout);
  }
  return Finish(x_BTD, trace);
}

}  // namespace attend::nn
