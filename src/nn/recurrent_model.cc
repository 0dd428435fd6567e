#include "attend/nn/recurrent_model.h"

#include <algorithm>
#include <vector>

#include "attend/nn/initialize.h"
#include "nn/fused/residual_norm.h"
#include "nn/pass_streams.h"

namespace attend::nn {
namespace {

constexpr size_t kFirstResidual = 2;  // layer, from 0

torch::Tensor Index(const std::vector<int64_t>& values, const torch::Tensor& like) {
  return torch::tensor(values, torch::kInt64).to(like.device());
}

}  // namespace

RecurrentLayerImpl::RecurrentLayerImpl(Architecture cell, int64_t in, int64_t out)
    : lstm_(cell == Architecture::kLstm), out_(out) {
  const int64_t gates = lstm_ ? 4 : 3;
  weight_input = register_parameter("weight_input", torch::zeros({gates * out, in}));
  weight_hidden = register_parameter("weight_hidden", torch::zeros({gates * out, out}));
  bias_input = register_parameter("bias_input", torch::zeros({gates * out}));
  bias_hidden = register_parameter("bias_hidden", torch::zeros({gates * out}));
}

int64_t RecurrentLayerImpl::StateSize() const { return lstm_ ? 2 * out_ : out_; }

torch::Tensor RecurrentLayerImpl::forward(const torch::Tensor& x_TBI, torch::Tensor* state_BE) {
  const torch::Tensor given_BE = state_BE != nullptr && state_BE->defined()
                                     ? *state_BE
                                     : x_TBI.new_zeros({x_TBI.size(1), StateSize()});
  const std::vector<torch::Tensor> weights = {weight_input, weight_hidden, bias_input, bias_hidden};
  const auto states = given_BE.split(out_, 1);
  if (!lstm_) {
    const auto [y_TBO, hidden] =
        at::gru(x_TBI, states[0].unsqueeze(0), weights, /*has_biases=*/true, /*num_layers=*/1,
                /*dropout=*/0, is_training(), /*bidirectional=*/false, /*batch_first=*/false);
    if (state_BE != nullptr) *state_BE = hidden.squeeze(0);
    return y_TBO.to(x_TBI.scalar_type());
  }
  const std::vector<torch::Tensor> begin = {states[0].unsqueeze(0).contiguous(),
                                            states[1].unsqueeze(0).contiguous()};
  const auto [y_TBO, hidden, cell] =
      at::lstm(x_TBI, begin, weights, /*has_biases=*/true, /*num_layers=*/1, /*dropout=*/0,
               is_training(), /*bidirectional=*/false, /*batch_first=*/false);
  if (state_BE != nullptr) *state_BE = torch::cat({hidden.squeeze(0), cell.squeeze(0)}, 1);
  return y_TBO.to(x_TBI.scalar_type());  // bf16 products give bf16
}

StepOrder::StepOrder(const PackedIds& ids, bool backward) : sentences_(ids.offsets_B1.numel() - 1) {
  const auto* offsets = ids.offsets_B1.const_data_ptr<int64_t>();
  std::vector<int64_t> row_of_step(ids.longest * sentences_), step_of_row(ids.ids_R.numel());
  for (int64_t b = 0; b < sentences_; ++b) {
    const int64_t length = offsets[b + 1] - offsets[b];
    for (int64_t t = 0; t < ids.longest; ++t) {
      const int64_t place = backward ? length - 1 - t : t;
      const int64_t row = offsets[b] + std::clamp<int64_t>(place, 0, length - 1);
      row_of_step[t * sentences_ + b] = row;
      if (t < length) step_of_row[row] = t * sentences_ + b;
    }
  }
  row_of_step_ = Index(row_of_step, ids.ids_R);
  step_of_row_ = Index(step_of_row, ids.ids_R);
}

torch::Tensor StepOrder::ToSteps(const torch::Tensor& x_RD) const {
  return x_RD.index_select(0, row_of_step_).unflatten(0, {-1, sentences_});
}

torch::Tensor StepOrder::ToRows(const torch::Tensor& x_TBD) const {
  return x_TBD.flatten(0, 1).index_select(0, step_of_row_);
}

RecurrentEncoderImpl::RecurrentEncoderImpl(Architecture cell, const StackConfig& config,
                                           const Dropout& dropout, int64_t vocab_size)
    : StackImpl(config, dropout, {vocab_size}, /*both_ways=*/true), dropout_(dropout.residual) {
  const int64_t width = config.d_model;
  forward_layer = register_module("forward_layer", RecurrentLayer(cell, width, width / 2));
  backward_layer = register_module("backward_layer", RecurrentLayer(cell, width, width / 2));
  for (int64_t layer = 1; layer < config.layers; ++layer)
    layers->push_back(RecurrentLayer(cell, width, width));
  RegisterLayers(config);
}

torch::Tensor RecurrentEncoderImpl::forward(const PackedIds& ids, DropoutStream* dropout) {
  const StepOrder onward(ids, /*backward=*/false), back(ids, /*backward=*/true);
  const auto run = [](RecurrentLayerImpl& layer, const StepOrder& order, const torch::Tensor& x) {
    return order.ToRows(layer.forward(order.ToSteps(x)));
  };
  const torch::Tensor embedded_RD = Embed(ids, {}, dropout);
  torch::Tensor x_RD = torch::cat(
      {run(*forward_layer, onward, embedded_RD), run(*backward_layer, back, embedded_RD)}, 1);
  for (size_t i = 0; i < layers->size(); ++i) {
    const torch::Tensor input_RD = AddDropped({}, x_RD, NextSite(dropout, dropout_, is_training()));
    const torch::Tensor y_RD = run(layers->at<RecurrentLayerImpl>(i), onward, input_RD);
    x_RD = i + 1 >= kFirstResidual ? x_RD + y_RD : y_RD;
  }
  return x_RD;
}

RecurrentDecoderImpl::RecurrentDecoderImpl(Architecture cell, const StackConfig& config,
                                           const Dropout& dropout, int64_t vocab_size)
    : StackImpl(config, dropout, {vocab_size}, /*both_ways=*/false), dropout_(dropout.residual) {
  attention = register_module("attention", MultiHeadAttention(config, dropout.attention));
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    const int64_t width = config.d_model;
    layers->push_back(RecurrentLayer(cell, layer == 0 ? width : 2 * width, width));
  }
  RegisterLayers(config);
}

torch::Tensor RecurrentDecoderImpl::forward(const torch::Tensor& x_RD, const PackedIds& ids,
                                            const Memory& memory, DropoutStream* dropout) {
  const StepOrder order(ids, /*backward=*/false);
  const auto dropped = [&](const torch::Tensor& x) {
    return AddDropped({}, x, NextSite(dropout, dropout_, is_training()));
  };
  const auto run = [&](size_t layer, const torch::Tensor& x) {
    return order.ToRows(layers->at<RecurrentLayerImpl>(layer).forward(order.ToSteps(x)));
  };
  torch::Tensor y_RD = run(0, x_RD);
  const torch::Tensor context_RD =
      dropped(attention(y_RD, memory.hidden_BSD, memory.mask, nullptr, dropout));
  for (size_t i = 1; i < layers->size(); ++i) {
    const torch::Tensor next_RD = run(i, torch::cat({dropped(y_RD), context_RD}, 1));
    y_RD = i >= kFirstResidual ? y_RD + next_RD : next_RD;
  }
  return dropped(y_RD);
}

DecoderState RecurrentDecoderImpl::Start(const torch::Tensor& memory_RD,
                                         const torch::Tensor& offsets_B1) {
  DecoderState state = StateOfSources(offsets_B1);
  for (const torch::Tensor& part : attention->KeysAndValues(memory_RD))
    state.source_RS.push_back(PadSentences(part, offsets_B1));
  for (size_t i = 0; i < layers->size(); ++i) {
    state.last_R.push_back(
        memory_RD.new_zeros({state.rows(), layers->at<RecurrentLayerImpl>(i).StateSize()}));
  }
  return state;
}

torch::Tensor RecurrentDecoderImpl::Step(const torch::Tensor& x_RD, DecoderState* state) {
  const auto run = [&](size_t layer, const torch::Tensor& x) {
    return layers->at<RecurrentLayerImpl>(layer)
        .forward(x.unsqueeze(0), &state->last_R[layer])
        .squeeze(0);
  };
  torch::Tensor y_RD = run(0, x_RD);
  const torch::Tensor &keys = state->source_RS[0], &values = state->source_RS[1];
  const torch::Tensor context_RD = attention->OverOwn(
      y_RD, keys, values, LengthMask(state->source_lengths, keys.size(1), keys.options()));
  for (size_t i = 1; i < layers->size(); ++i) {
    const torch::Tensor next_RD = run(i, torch::cat({y_RD, context_RD}, 1));
    y_RD = i >= kFirstResidual ? y_RD + next_RD : next_RD;
  }
  for (int64_t& length : state->lengths) ++length;
  return y_RD;
}

RecurrentModelImpl::RecurrentModelImpl(const ModelConfig& config, const Dropout& dropout,
                                       uint64_t seed)
    : SequenceModelImpl(config) {
  encoder = register_module("encoder", RecurrentEncoder(config.architecture, *config.encoder,
                                                        dropout, config.source_vocab_size));
  decoder = register_module("decoder", RecurrentDecoder(config.architecture, *config.decoder,
                                                        dropout, OwnTargetVocabulary()));
  RegisterHead();
  InitializeWeights(*this, at::detail::createCPUGenerator(seed));
}

torch::Tensor RecurrentModelImpl::PackedHidden(const PackedIds& source, const PackedIds& target,
                                               const std::optional<DropoutKey>& dropout) {
  PassStreams streams(dropout, DecoderEmbedding());
  const Memory memory{
      encoder->forward(source, streams.encoder()),
      AttentionMask::Packed(target.offsets_B1, source.offsets_B1, /*causal=*/false)};
  const torch::Tensor x_RD = decoder->Embed(target, DecoderEmbedding(), streams.decoder());
  return decoder->forward(x_RD, target, memory, streams.decoder());
}

DecoderState RecurrentModelImpl::Start(const PackedIds& source) {
  return decoder->Start(encoder->forward(source, nullptr), source.offsets_B1);
}

torch::Tensor RecurrentModelImpl::Step(const torch::Tensor& ids_R, DecoderState* state) {
  return decoder->Step(decoder->Embed(NextIds(ids_R, *state), DecoderEmbedding()), state);
}

}  // namespace attend::nn
