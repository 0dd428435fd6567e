#include "attend/nn/transformer.h"

#include <cmath>
#include <numbers>

#include "attend/error.h"
#include "attend/nn/masks.h"
#include "nn/linear.h"
#include "nn/residual.h"

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

void InitializeOne(torch::nn::Module& module, torch::Generator& generator) {
  if (auto* linear = module.as<torch::nn::LinearImpl>()) {
    FillXavierUniform(linear->weight, generator);
    if (linear->bias.defined()) linear->bias.zero_();
  } else if (auto* embedding = module.as<torch::nn::EmbeddingImpl>()) {
    FillEmbedding(embedding->weight, generator);
  } else if (auto* positions = module.as<LearnedPositionalEncodingImpl>()) {
    FillEmbedding(positions->weight, generator);
  } else if (auto* head = module.as<HeadImpl>()) {
    if (head->weight.defined()) FillEmbedding(head->weight, generator);
    for (const torch::Tensor& zeros :
         {head->bias, head->crf.begin_L, head->crf.end_L, head->crf.next_LL})
      if (zeros.defined()) zeros.zero_();
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

void CheckKey(const std::optional<DropoutKey>& key, const torch::Tensor& weight) {
  if (key && !weight.is_cpu())
    throw Error(ErrorKind::kUsage, "dropout by a key is for CPUs; leave the key out on a GPU");
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

HeadImpl::HeadImpl(const ModelConfig& config)
    : activation_(config.last_stack().activation), pooler_activation_(config.pooler_activation) {
  const bool labels = config.head == HeadKind::kLabels;
  const int64_t width = config.last_stack().d_model, outputs = config.head_width();
  if (labels || !config.tie_target_output)
    weight = register_parameter("weight", torch::zeros({outputs, width}));
  if (labels || config.head_bias) bias = register_parameter("bias", torch::zeros({outputs}));
  if (config.crf) {
    crf = {register_parameter("begin", torch::zeros({outputs})),
           register_parameter("end", torch::zeros({outputs})),
           register_parameter("transitions", torch::zeros({outputs, outputs}))};
  }
  if (config.head_transform) {
    transform = register_module("transform", torch::nn::Linear(width, width));
    norm = register_module("norm", Norm(config.last_stack()));
  }
  if (config.head_pooler) pooler = register_module("pooler", torch::nn::Linear(width, width));
}

torch::Tensor HeadImpl::forward(const torch::Tensor& hidden_RD) {
  if (!pooler.is_empty()) {
    const torch::Tensor dense_RD = Linear(hidden_RD, pooler);
    return pooler_activation_ == PoolerActivation::kRelu ? dense_RD.relu() : dense_RD.tanh();
  }
  if (transform.is_empty()) return hidden_RD;
  const torch::Tensor dense_RD = Linear(hidden_RD, transform);
  return norm(activation_ == Activation::kRelu ? dense_RD.relu() : torch::gelu(dense_RD));
}

TransformerImpl::TransformerImpl(const ModelConfig& config, const Dropout& dropout, uint64_t seed)
    : config_(config) {
  CheckModelConfig(config);
  if (config.encoder) {
    encoder = register_module(
        "encoder", TransformerEncoder(*config.encoder, dropout, config.source_vocab_size));
  }
  if (config.decoder) {
    const bool tied = config.encoder && config.tie_source_target;
    decoder = register_module(
        "decoder", TransformerDecoder(*config.decoder, dropout, tied ? 0 : config.target_vocab_size,
                                      config.encoder.has_value()));
  }
  if (config.head != HeadKind::kNone) {
    const Head own(config);
    if (!own->parameters().empty()) head = register_module("head", own);
  }
  InitializeWeights(*this, at::detail::createCPUGenerator(seed));
}

Memory TransformerImpl::Encode(const torch::Tensor& source_BS, StackTrace* trace, bool padded) {
  const torch::Tensor x_BSD = encoder->Embed(source_BS);
  torch::Tensor mask;
  if (padded)
    mask = PaddingMask(ValidTokens(source_BS, config_.special_ids.pad), x_BSD.scalar_type());
  return {encoder(x_BSD, AttentionMask(mask), trace), mask};
}

torch::Tensor TransformerImpl::Decode(const torch::Tensor& target_BT, const Memory& memory,
                                      StackTrace* trace) {
  torch::Tensor x_BTD = decoder->Embed(target_BT, DecoderEmbedding());
  if (memory.next_words_BT.defined()) {
    const torch::Tensor places_BTD = memory.next_words_BT.unsqueeze(2).expand_as(x_BTD);
    x_BTD = x_BTD + memory.hidden_BSD.gather(1, places_BTD);
  }
  return decoder(x_BTD, AttentionMask::Causal(), memory, trace);
}

torch::Tensor TransformerImpl::Hidden(const torch::Tensor& source_BS,
                                      const torch::Tensor& target_BT, Trace* trace) {
  const Memory memory = encoder.is_empty()
                            ? Memory{}
                            : Encode(source_BS, trace != nullptr ? &trace->encoder : nullptr);
  return Decode(target_BT, memory, trace != nullptr ? &trace->decoder : nullptr);
}

torch::Tensor TransformerImpl::PackedHidden(const PackedIds& source, const PackedIds& target,
                                            const std::optional<DropoutKey>& dropout) {
  constexpr uint32_t kDecoderSites = 1u << 31;
  CheckKey(dropout, DecoderEmbedding());
  const DropoutKey key = dropout.value_or(DropoutKey{});
  DropoutStream encoder_stream(key.seed, key.first_source_row),
      decoder_stream(key.seed, key.first_target_row, kDecoderSites);
  const auto given = [&](DropoutStream& stream) { return dropout ? &stream : nullptr; };
  Memory memory;
  if (!encoder.is_empty()) {
    const auto mask = AttentionMask::Packed(source.offsets_B1, source.offsets_B1, /*causal=*/false);
    const torch::Tensor x_RD = encoder->Embed(source, {}, given(encoder_stream));
    memory = {encoder->forward(x_RD, mask, nullptr, given(encoder_stream)),
              AttentionMask::Packed(target.offsets_B1, source.offsets_B1, /*causal=*/false)};
  }
  const auto mask = AttentionMask::Packed(target.offsets_B1, target.offsets_B1, /*causal=*/true);
  torch::Tensor x_RD = decoder->Embed(target, DecoderEmbedding(), given(decoder_stream));
  if (target.next_words_R.defined())
    x_RD = x_RD + memory.hidden_BSD.index_select(0, target.next_words_R);
  return decoder->forward(x_RD, mask, memory, nullptr, given(decoder_stream));
}

torch::Tensor TransformerImpl::PackedEncode(const PackedIds& source,
                                            const std::optional<DropoutKey>& dropout) {
  CheckKey(dropout, encoder->embedding->weight);
  const DropoutKey key = dropout.value_or(DropoutKey{});
  DropoutStream stream(key.seed, key.first_source_row);
  DropoutStream* const given = dropout ? &stream : nullptr;
  const auto mask = AttentionMask::Packed(source.offsets_B1, source.offsets_B1, /*causal=*/false);
  return encoder->forward(encoder->Embed(source, {}, given), mask, nullptr, given);
}

torch::Tensor TransformerImpl::Pool(const torch::Tensor& hidden_RD, const PackedIds& source) const {
  if (config_.pooling == Pooling::kTokens) return hidden_RD;
  const torch::Tensor first_B = source.offsets_B1.slice(0, 0, -1);
  if (config_.pooling == Pooling::kFirst)
    return hidden_RD.index_select(0, first_B.to(hidden_RD.device()));
  const torch::Tensor lengths_B = source.offsets_B1.slice(0, 1) - first_B;
  return torch::segment_reduce(hidden_RD, "mean", lengths_B.to(hidden_RD.device()));
}

torch::Tensor TransformerImpl::HeadInput(const torch::Tensor& hidden_RD) {
  return head.is_empty() ? hidden_RD : head(hidden_RD);
}

torch::Tensor TransformerImpl::Project(const torch::Tensor& input_RD) {
  return Linear(input_RD, OutputWeight(), OutputBias());
}

torch::Tensor TransformerImpl::Logits(const torch::Tensor& hidden_RD) {
  return Project(HeadInput(hidden_RD));
}

torch::Tensor TransformerImpl::forward(const torch::Tensor& source_BS,
                                       const torch::Tensor& target_BT, Trace* trace) {
  return Logits(Hidden(source_BS, target_BT, trace));
}

torch::Tensor TransformerImpl::DecoderEmbedding() const {
  const bool tied = config_.encoder && config_.tie_source_target;
  return tied ? encoder->embedding->weight : decoder->embedding->weight;
}

torch::Tensor TransformerImpl::OutputWeight() const {
  if (!head.is_empty() && head->weight.defined()) return head->weight;
  return config_.decoder ? DecoderEmbedding() : encoder->embedding->weight;
}

torch::Tensor TransformerImpl::OutputBias() const {
  return head.is_empty() ? torch::Tensor() : head->bias;
}

}  // namespace attend::nn
