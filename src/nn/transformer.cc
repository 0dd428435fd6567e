#include "attend/nn/transformer.h"

#include "attend/nn/initialize.h"
#include "attend/nn/masks.h"
#include "nn/pass_streams.h"

namespace attend::nn {

TransformerImpl::TransformerImpl(const ModelConfig& config, const Dropout& dropout, uint64_t seed)
    : SequenceModelImpl(config) {
  if (config.encoder) {
    encoder = register_module(
        "encoder",
        TransformerEncoder(*config.encoder, dropout,
                           StackInput{config.source_vocab_size, config.patches, config.frames}));
  }
  if (config.decoder) {
    decoder = register_module("decoder",
                              TransformerDecoder(*config.decoder, dropout, OwnTargetVocabulary(),
                                                 config.encoder.has_value()));
  }
  RegisterHead();
  InitializeWeights(*this, at::detail::createCPUGenerator(seed));
}

Memory TransformerImpl::Encode(const torch::Tensor& source_BS, StackTrace* trace, bool padded) {
  const torch::Tensor x_BSD = encoder->Embed(source_BS);
  torch::Tensor mask;
  if (padded)
    mask = PaddingMask(ValidTokens(source_BS, config().special_ids.pad), x_BSD.scalar_type());
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

torch::Tensor TransformerImpl::PaddedHidden(const torch::Tensor& source_BS,
                                            const torch::Tensor& target_BT, bool source_padded) {
  return Decode(target_BT, Encode(source_BS, /*trace=*/nullptr, source_padded));
}

torch::Tensor TransformerImpl::PackedHidden(const PackedIds& source, const PackedIds& target,
                                            const std::optional<DropoutKey>& dropout) {
  return PackedHidden(source, target, dropout, nullptr);
}

torch::Tensor TransformerImpl::PackedHidden(const PackedIds& source, const PackedIds& target,
                                            const std::optional<DropoutKey>& dropout,
                                            CrossWeights* kept, torch::Tensor* memory_RD) {
  PassStreams streams(dropout, DecoderEmbedding());
  Memory memory;
  if (!encoder.is_empty()) {
    const auto mask = AttentionMask::Packed(source.offsets_B1, source.offsets_B1, /*causal=*/false);
    const torch::Tensor x_RD = encoder->Embed(source, {}, streams.encoder());
    memory = {encoder->forward(x_RD, mask, nullptr, streams.encoder()),
              AttentionMask::Packed(target.offsets_B1, source.offsets_B1, /*causal=*/false)};
  }
  memory.kept = kept;
  if (memory_RD != nullptr) *memory_RD = memory.hidden_BSD;
  const auto mask = AttentionMask::Packed(target.offsets_B1, target.offsets_B1, /*causal=*/true);
  torch::Tensor x_RD = decoder->Embed(target, DecoderEmbedding(), streams.decoder());
  if (target.next_words_R.defined())
    x_RD = x_RD + memory.hidden_BSD.index_select(0, target.next_words_R);
  return decoder->forward(x_RD, mask, memory, nullptr, streams.decoder());
}

torch::Tensor TransformerImpl::PackedEncode(const PackedIds& source,
                                            const std::optional<DropoutKey>& dropout) {
  PassStreams streams(dropout,
                      encoder->layers->at<EncoderLayerImpl>(0).self_attention->query->weight);
  const auto mask = AttentionMask::Packed(source.offsets_B1, source.offsets_B1, /*causal=*/false);
  return encoder->forward(encoder->Embed(source, {}, streams.encoder()), mask, nullptr,
                          streams.encoder());
}

torch::Tensor TransformerImpl::EncodePictures(const torch::Tensor& patches_PE) {
  PackedIds read;
  read.patches_PE = patches_PE;
  const torch::Tensor x_RD = encoder->Embed(read);
  return encoder(x_RD.unflatten(0, {-1, config().patches->rows()}));
}

DecoderState TransformerImpl::Start(const PackedIds& source) {
  const torch::Tensor memory_RD = encoder.is_empty() ? torch::Tensor() : PackedEncode(source);
  return decoder->Start(memory_RD, source.offsets_B1, DecoderEmbedding().options());
}

torch::Tensor TransformerImpl::Step(const torch::Tensor& ids_R, DecoderState* state) {
  return decoder->Step(decoder->Embed(NextIds(ids_R, *state), DecoderEmbedding()), state);
}

torch::Tensor TransformerImpl::Pool(const torch::Tensor& hidden_RD, const PackedIds& source) const {
  if (config().pooling == Pooling::kTokens) return hidden_RD;
  const torch::Tensor first_B = source.offsets_B1.slice(0, 0, -1);
  if (config().pooling == Pooling::kFirst)
    return hidden_RD.index_select(0, first_B.to(hidden_RD.device()));
  const torch::Tensor lengths_B = source.offsets_B1.slice(0, 1) - first_B;
  return torch::segment_reduce(hidden_RD, "mean", lengths_B.to(hidden_RD.device()));
}

torch::Tensor TransformerImpl::forward(const torch::Tensor& source_BS,
                                       const torch::Tensor& target_BT, Trace* trace) {
  return Logits(Hidden(source_BS, target_BT, trace));
}

}  // namespace attend::nn
