#include "attend/nn/convolutional_model.h"

#include <cmath>
#include <vector>

#include "attend/nn/initialize.h"
#include "nn/fused/packed_attention.h"
#include "nn/fused/residual_norm.h"
#include "nn/linear.h"
#include "nn/pass_streams.h"

namespace attend::nn {
namespace {

// Keeps the variance of a sum of two.
torch::Tensor Mean(const torch::Tensor& a, const torch::Tensor& b) {
  return (a + b) * std::sqrt(0.5);
}

torch::Tensor LengthsOfRows(const PackedIds& ids, const torch::Tensor& lengths_B) {
  return lengths_B.repeat_interleave(ids.offsets_B1.diff()).unsqueeze(1);
}

}  // namespace

GatedConvolutionImpl::GatedConvolutionImpl(int64_t width, int64_t kernel_width, double dropout,
                                           bool separable)
    : dropout_(dropout) {
  if (separable) columns = register_parameter("columns", torch::zeros({kernel_width, width}));
  weight = register_parameter("weight",
                              torch::zeros({2 * width, separable ? width : kernel_width * width}));
  bias = register_parameter("bias", torch::zeros({2 * width}));
}

torch::Tensor GatedConvolutionImpl::forward(const torch::Tensor& windows_RE) {
  if (!columns.defined()) return torch::glu(Linear(windows_RE, weight, bias), -1);
  const torch::Tensor windows_RWD = windows_RE.view({-1, columns.size(0), columns.size(1)});
  return torch::glu(Linear((windows_RWD * columns).sum(1), weight, bias), -1);
}

Windows::Windows(const PackedIds& ids, int64_t kernel_width, int64_t before, int64_t dilation) {
  const auto* offsets = ids.offsets_B1.const_data_ptr<int64_t>();
  const int64_t zeros = ids.ids_R.numel();
  std::vector<int64_t> rows;
  rows.reserve(zeros * kernel_width);
  for (int64_t b = 0; b + 1 < ids.offsets_B1.numel(); ++b) {
    for (int64_t row = offsets[b]; row < offsets[b + 1]; ++row) {
      for (int64_t w = 0; w < kernel_width; ++w) {
        const int64_t neighbour = row + (w - before) * dilation;
        const bool inside = neighbour >= offsets[b] && neighbour < offsets[b + 1];
        rows.push_back(inside ? neighbour : zeros);
      }
    }
  }
  rows_RW_ = torch::tensor(rows, torch::kInt64).to(ids.ids_R.device());
}

torch::Tensor Windows::Of(const torch::Tensor& x_RD) const {
  const torch::Tensor with_zeros = torch::cat({x_RD, x_RD.new_zeros({1, x_RD.size(1)})});
  return with_zeros.index_select(0, rows_RW_).view({x_RD.size(0), -1});
}

ConvolutionalEncoderImpl::ConvolutionalEncoderImpl(const StackConfig& config,
                                                   const Dropout& dropout, int64_t vocab_size)
    : StackImpl(config, dropout, {vocab_size}, /*both_ways=*/true),
      kernel_width_(config.kernel_width),
      dropout_(dropout.residual) {
  input = register_module("input", LinearLayer(config.d_model, config.d_model, true));
  for (int64_t layer = 0; layer < config.layers; ++layer)
    layers->push_back(
        GatedConvolution(config.d_model, config.kernel_width, dropout.residual, config.separable));
  RegisterLayers(config);
  output = register_module("output", LinearLayer(config.d_model, config.d_model, true));
}

ConvolutionalMemory ConvolutionalEncoderImpl::forward(const PackedIds& ids,
                                                      DropoutStream* dropout) {
  const Windows windows(ids, kernel_width_, (kernel_width_ - 1) / 2);
  const torch::Tensor embedded_RD = Embed(ids, {}, dropout);
  torch::Tensor x_RD = Linear(embedded_RD, input);
  for (size_t i = 0; i < layers->size(); ++i) {
    const torch::Tensor dropped_RD =
        AddDropped({}, x_RD, NextSite(dropout, dropout_, is_training()));
    x_RD = Mean(layers->at<GatedConvolutionImpl>(i).forward(windows.Of(dropped_RD)), x_RD);
  }
  const torch::Tensor keys_RD = Linear(x_RD, output);
  return {keys_RD, Mean(keys_RD, embedded_RD)};
}

ConvolutionalDecoderLayerImpl::ConvolutionalDecoderLayerImpl(const StackConfig& config,
                                                             const Dropout& dropout) {
  convolution = register_module(
      "convolution",
      GatedConvolution(config.d_model, config.kernel_width, dropout.residual, config.separable));
  query = register_module("query", LinearLayer(config.d_model, config.d_model, true));
  output = register_module("output", LinearLayer(config.d_model, config.d_model, true));
}

// Attention divides by sqrt(d_model), which ConvS2S does not.
torch::Tensor ConvolutionalDecoderLayerImpl::Query(const torch::Tensor& y_RD,
                                                   const torch::Tensor& embedded_RD) {
  return Mean(Linear(y_RD, query), embedded_RD) * std::sqrt(static_cast<double>(y_RD.size(1)));
}

// A mean of n values has 1 / n of their variance where attention is even; times sqrt(n) keeps it.
torch::Tensor ConvolutionalDecoderLayerImpl::Finish(const torch::Tensor& x_RD,
                                                    const torch::Tensor& y_RD,
                                                    const torch::Tensor& found_RD,
                                                    const torch::Tensor& source_lengths_R1) {
  const torch::Tensor attended_RD = Linear(found_RD * source_lengths_R1.sqrt(), output);
  return Mean(Mean(attended_RD, y_RD), x_RD);
}

ConvolutionalDecoderImpl::ConvolutionalDecoderImpl(const StackConfig& config,
                                                   const Dropout& dropout, int64_t vocab_size)
    : StackImpl(config, dropout, {vocab_size}, /*both_ways=*/false),
      kernel_width_(config.kernel_width),
      dropout_(dropout.residual) {
  input = register_module("input", LinearLayer(config.d_model, config.d_model, true));
  for (int64_t layer = 0; layer < config.layers; ++layer)
    layers->push_back(ConvolutionalDecoderLayer(config, dropout));
  RegisterLayers(config);
  output = register_module("output", LinearLayer(config.d_model, config.d_model, true));
}

torch::Tensor ConvolutionalDecoderImpl::forward(const torch::Tensor& embedded_RD,
                                                const PackedIds& ids,
                                                const ConvolutionalMemory& memory,
                                                const PackedIds& source, DropoutStream* dropout) {
  const Windows windows(ids, kernel_width_, kernel_width_ - 1);
  const auto mask = AttentionMask::Packed(ids.offsets_B1, source.offsets_B1, /*causal=*/false);
  const torch::Tensor memory_SE = torch::cat({memory.keys, memory.values}, 1);
  const torch::Tensor lengths_R1 =
      LengthsOfRows(ids, source.offsets_B1.diff()).to(embedded_RD.options());
  const HeadShape one_head{1, embedded_RD.size(1), embedded_RD.size(1)};
  const auto dropped = [&](const torch::Tensor& x) {
    return AddDropped({}, x, NextSite(dropout, dropout_, is_training()));
  };
  torch::Tensor x_RD = Linear(embedded_RD, input);
  for (size_t i = 0; i < layers->size(); ++i) {
    auto& layer = layers->at<ConvolutionalDecoderLayerImpl>(i);
    const torch::Tensor y_RD = layer.convolution(windows.Of(dropped(x_RD)));
    const torch::Tensor found_RD =
        PackedAttention(layer.Query(y_RD, embedded_RD), memory_SE, one_head, mask, {});
    x_RD = layer.Finish(x_RD, y_RD, found_RD, lengths_R1);
  }
  return dropped(Linear(x_RD, output));
}

DecoderState ConvolutionalDecoderImpl::Start(const ConvolutionalMemory& memory,
                                             const torch::Tensor& offsets_B1) {
  DecoderState state = StateOfSources(offsets_B1);
  for (const torch::Tensor& part : {memory.keys, memory.values})
    state.source_RS.push_back(PadSentences(part, offsets_B1));
  const int64_t width = memory.keys.size(1);
  for (size_t i = 0; i < layers->size(); ++i)
    state.last_R.push_back(memory.keys.new_zeros({state.rows(), (kernel_width_ - 1) * width}));
  return state;
}

torch::Tensor ConvolutionalDecoderImpl::Step(const torch::Tensor& embedded_RD,
                                             DecoderState* state) {
  const torch::Tensor &keys_RSD = state->source_RS[0], &values_RSD = state->source_RS[1];
  const torch::Tensor mask =
      LengthMask(state->source_lengths, keys_RSD.size(1), keys_RSD.options());
  const torch::Tensor lengths_R1 =
      torch::tensor(state->source_lengths, torch::kInt64).unsqueeze(1).to(embedded_RD.options());
  const int64_t width = embedded_RD.size(1);
  torch::Tensor x_RD = Linear(embedded_RD, input);
  for (size_t i = 0; i < layers->size(); ++i) {
    auto& layer = layers->at<ConvolutionalDecoderLayerImpl>(i);
    const torch::Tensor windows_RE = torch::cat({state->last_R[i], x_RD}, 1);
    state->last_R[i] = windows_RE.narrow(1, width, windows_RE.size(1) - width);
    const torch::Tensor y_RD = layer.convolution(windows_RE);
    torch::Tensor scores_RS =
        torch::matmul(keys_RSD, layer.Query(y_RD, embedded_RD).unsqueeze(2)).squeeze(2) /
        std::sqrt(static_cast<double>(width));
    if (mask.defined()) scores_RS = scores_RS + mask.squeeze(1).squeeze(1);
    const torch::Tensor found_RD =
        torch::matmul(scores_RS.softmax(1).unsqueeze(1), values_RSD).squeeze(1);
    x_RD = layer.Finish(x_RD, y_RD, found_RD, lengths_R1);
  }
  for (int64_t& length : state->lengths) ++length;
  return Linear(x_RD, output);
}

ConvolutionalModelImpl::ConvolutionalModelImpl(const ModelConfig& config, const Dropout& dropout,
                                               uint64_t seed)
    : SequenceModelImpl(config) {
  encoder = register_module(
      "encoder", ConvolutionalEncoder(*config.encoder, dropout, config.source_vocab_size));
  decoder = register_module("decoder",
                            ConvolutionalDecoder(*config.decoder, dropout, OwnTargetVocabulary()));
  RegisterHead();
  InitializeWeights(*this, at::detail::createCPUGenerator(seed));
}

torch::Tensor ConvolutionalModelImpl::PackedHidden(const PackedIds& source, const PackedIds& target,
                                                   const std::optional<DropoutKey>& dropout) {
  PassStreams streams(dropout, DecoderEmbedding());
  const ConvolutionalMemory memory = encoder->forward(source, streams.encoder());
  const torch::Tensor embedded_RD = decoder->Embed(target, DecoderEmbedding(), streams.decoder());
  return decoder->forward(embedded_RD, target, memory, source, streams.decoder());
}

DecoderState ConvolutionalModelImpl::Start(const PackedIds& source) {
  return decoder->Start(encoder->forward(source, nullptr), source.offsets_B1);
}

torch::Tensor ConvolutionalModelImpl::Step(const torch::Tensor& ids_R, DecoderState* state) {
  return decoder->Step(decoder->Embed(NextIds(ids_R, *state), DecoderEmbedding()), state);
}

}  // namespace attend::nn
