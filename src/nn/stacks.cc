#include "attend/nn/stacks.h"

#include <algorithm>
#include <cmath>

#include "attend/error.h"
#include "nn/fused/embedding.h"
#include "nn/residual.h"

namespace attend::nn {

StackImpl::StackImpl(const StackConfig& config, const Dropout& dropout, const StackInput& input,
                     bool both_ways)
    : embedding_scale_(config.scale_embedding ? std::sqrt(static_cast<double>(config.d_model)) : 1),
      embedding_dropout_(dropout.embedding),
      attention_window_(config.attention_window) {
  if (input.vocab_size > 0) {
    embedding =
        register_module("embedding", torch::nn::Embedding(input.vocab_size, config.d_model));
  }
  if (input.patches)
    patches = register_module("patches", PatchEmbedding(*input.patches, config.d_model));
  if (input.frames) {
    convolutions =
        register_module("convolutions", FrameConvolutions(*input.frames, config.d_model));
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
  if (ids.patches_PE.defined()) return EmbedPatches(ids.patches_PE, dropout);
  if (ids.frames_FM.defined()) return EmbedFrames(ids, dropout);
  if (!weight_VD.defined() && embedding.is_empty()) {
    throw Error(ErrorKind::kUsage,
                "Embed was called on a stack without vocabulary; give it a weight");
  }
  const torch::Tensor& table_VD = weight_VD.defined() ? weight_VD : embedding->weight;
  const EmbeddingInputs inputs{table_VD, Positions(ids.longest, table_VD.options()), ids.ids_R,
                               ids.positions_R, embedding_scale_};
  const DropoutSite site = NextSite(dropout, embedding_dropout_, is_training());
  if (embedding_norm.is_empty()) return FusedEmbedding(inputs, site);
  return AddDropped({}, embedding_norm(FusedEmbedding(inputs, {})), site);
}

torch::Tensor StackImpl::Positions(int64_t length, const torch::TensorOptions& options) {
  if (!sinusoidal_positions.is_empty()) return sinusoidal_positions->Table(length, options);
  if (!learned_positions.is_empty()) return learned_positions->Table(length);
  return {};
}

torch::Tensor StackImpl::EmbedPatches(const torch::Tensor& patches_PE, DropoutStream* dropout) {
  torch::Tensor x_BTD = patches(patches_PE);
  const torch::Tensor positions_TD = Positions(x_BTD.size(1), x_BTD.options());
  if (positions_TD.defined()) x_BTD = x_BTD + positions_TD;
  return NormAndDrop(x_BTD.flatten(0, 1), dropout);
}

torch::Tensor StackImpl::EmbedFrames(const PackedIds& read, DropoutStream* dropout) {
  torch::Tensor x_RD = convolutions(read.frames_FM, read.frame_offsets_B1);
  const torch::Tensor positions_TD = Positions(read.longest, x_RD.options());
  if (positions_TD.defined()) x_RD = x_RD + positions_TD.index_select(0, read.positions_R);
  return NormAndDrop(x_RD, dropout);
}

torch::Tensor StackImpl::NormAndDrop(const torch::Tensor& x_RD, DropoutStream* dropout) {
  const torch::Tensor normal_RD = embedding_norm.is_empty() ? x_RD : embedding_norm(x_RD);
  return AddDropped({}, normal_RD, NextSite(dropout, embedding_dropout_, is_training()));
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
  mask.bias_HN = relative_bias(longest);
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
                                               const StackInput& input)
    : StackImpl(config, dropout, input, /*both_ways=*/true) {
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
    : StackImpl(config, dropout, {vocab_size}, /*both_ways=*/false) {
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
    Memory seen = memory;
    if (seen.kept != nullptr && seen.kept->layer != static_cast<int64_t>(i)) seen.kept = nullptr;
    x_BTD = layers->at<DecoderLayerImpl>(i).forward(x_BTD, own, seen, layer_trace, dropout);
  }
  return Finish(x_BTD, trace);
}

DecoderState TransformerDecoderImpl::Start(const torch::Tensor& memory_RD,
                                           const torch::Tensor& offsets_B1,
                                           const torch::TensorOptions& options) {
  DecoderState state = StateOfSources(offsets_B1);
  for (size_t i = 0; i < layers->size(); ++i) {
    DecoderLayerImpl& layer = layers->at<DecoderLayerImpl>(i);
    if (!layer.cross_attention.is_empty()) {
      for (const torch::Tensor& part : layer.cross_attention->KeysAndValues(memory_RD))
        state.source_RS.push_back(PadSentences(part, offsets_B1));
    }
    if (!layer.recurrence.is_empty()) {
      state.last_R.push_back(
          torch::zeros({state.rows(), layer.recurrence->input->weight.size(0)}, options));
    } else {
      for (const LinearLayer& part : {layer.self_attention->key, layer.self_attention->value})
        state.past_RT.push_back(torch::zeros({state.rows(), 0, part->weight.size(0)}, options));
    }
  }
  return state;
}

NextPlaces TransformerDecoderImpl::PlacesOf(const DecoderState& state,
                                            const torch::TensorOptions& options) {
  NextPlaces next;
  next.rows_R = torch::arange(state.rows(), torch::kInt64).to(options.device());
  next.places_R = torch::tensor(state.lengths, torch::kInt64).to(options.device());
  std::vector<int64_t> seen = state.lengths;
  for (int64_t& length : seen) ++length;
  const int64_t longest = *std::ranges::max_element(seen);
  torch::Tensor& mask = next.self_mask.additive;
  const auto add = [&mask](const torch::Tensor& more) {
    mask = mask.defined() ? mask + more : more;
  };
  mask = LengthMask(seen, longest, options);
  if (const int64_t window = attention_window(); window > 0) {
    const torch::Tensor keys_T = torch::arange(longest, next.places_R.options());
    const torch::Tensor near_RT = keys_T >= (next.places_R - window).unsqueeze(1);
    add(MaskFromAllowed(near_RT.unsqueeze(1).unsqueeze(1),
                        c10::typeMetaToScalarType(options.dtype())));
  }
  if (!relative_bias.is_empty()) {
    const torch::Tensor bias_RHT =
        BiasOfPairs(relative_bias(longest), longest).index_select(1, next.places_R).transpose(0, 1);
    add(bias_RHT.unsqueeze(2));
  }
  if (!state.source_RS.empty())
    next.cross_mask.additive =
        LengthMask(state.source_lengths, state.source_RS[0].size(1), options);
  return next;
}

torch::Tensor TransformerDecoderImpl::Step(torch::Tensor x_RD, DecoderState* state) {
  state->Grow();
  const NextPlaces next = PlacesOf(*state, x_RD.options());
  torch::Tensor *source = state->source_RS.data(), *past = state->past_RT.data(),
                *last = state->last_R.data();
  for (size_t i = 0; i < layers->size(); ++i) {
    DecoderLayerImpl& layer = layers->at<DecoderLayerImpl>(i);
    LayerState own;
    if (!layer.cross_attention.is_empty()) {
      own.source_keys_RSE = source++;
      own.source_values_RSE = source++;
    }
    if (!layer.recurrence.is_empty()) {
      own.recurrence_RD = last++;
    } else {
      own.keys_RTE = past++;
      own.values_RTE = past++;
    }
    x_RD = layer.Step(x_RD, next, own);
  }
  for (int64_t& length : state->lengths) ++length;
  return Finish(x_RD, nullptr);
}

}  // namespace attend::nn
