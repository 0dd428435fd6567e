#include "attend/nn/sequence_model.h"

#include <algorithm>

#include "attend/nn/convolutional_model.h"
#include "attend/nn/initialize.h"
#include "attend/nn/masks.h"
#include "attend/nn/recurrent_model.h"
#include "attend/nn/transformer.h"
#include "nn/linear.h"

namespace attend::nn {
namespace {

// Without the padding on the right; sentences of padding alone keep nothing.
PackedIds Packed(const torch::Tensor& ids_BS, int64_t pad_id) {
  const torch::Tensor valid_BS = ValidTokens(ids_BS, pad_id);
  const torch::Tensor lengths_B = valid_BS.sum(1).cpu();
  const torch::Tensor places_BS = torch::arange(ids_BS.size(1), ids_BS.options()).expand_as(ids_BS);
  const torch::Tensor offsets_B1 =
      torch::cat({torch::zeros({1}, torch::kInt64), lengths_B.cumsum(0)});
  return {ids_BS.masked_select(valid_BS), places_BS.masked_select(valid_BS), offsets_B1,
          lengths_B.numel() == 0 ? 0 : lengths_B.max().item<int64_t>()};
}

}  // namespace

SequenceModelImpl::SequenceModelImpl(const ModelConfig& config) : config_(config) {
  CheckModelConfig(config);
}

int64_t SequenceModelImpl::OwnTargetVocabulary() const {
  return config_.encoder && config_.tie_source_target ? 0 : config_.target_vocab_size;
}

void SequenceModelImpl::RegisterHead() {
  if (config_.head == HeadKind::kNone) return;
  const Head own(config_);
  if (!own->parameters().empty()) head = register_module("head", own);
}

torch::Tensor SequenceModelImpl::PaddedHidden(const torch::Tensor& source_BS,
                                              const torch::Tensor& target_BT, bool) {
  const PackedIds source = Packed(source_BS, config_.special_ids.pad),
                  target = Packed(target_BT, config_.special_ids.pad);
  const torch::Tensor hidden_BTD = PadSentences(PackedHidden(source, target), target.offsets_B1);
  return torch::constant_pad_nd(hidden_BTD, {0, 0, 0, target_BT.size(1) - hidden_BTD.size(1)});
}

PackedIds SequenceModelImpl::NextIds(const torch::Tensor& ids_R, const DecoderState& state) {
  return {ids_R,
          torch::tensor(state.lengths, torch::kInt64).to(ids_R.device()),
          {},
          *std::ranges::max_element(state.lengths) + 1};
}

torch::Tensor SequenceModelImpl::HeadInput(const torch::Tensor& hidden_RD) {
  return head.is_empty() ? hidden_RD : head(hidden_RD);
}

torch::Tensor SequenceModelImpl::Project(const torch::Tensor& input_RD) {
  return Linear(input_RD, OutputWeight(), OutputBias());
}

torch::Tensor SequenceModelImpl::Logits(const torch::Tensor& hidden_RD) {
  return Project(HeadInput(hidden_RD));
}

torch::Tensor SequenceModelImpl::DecoderEmbedding() const {
  return OwnTargetVocabulary() == 0 ? encoder_stack()->embedding->weight
                                    : decoder_stack()->embedding->weight;
}

torch::Tensor SequenceModelImpl::OutputWeight() const {
  if (!head.is_empty() && head->weight.defined()) return head->weight;
  return config_.decoder ? DecoderEmbedding() : encoder_stack()->embedding->weight;
}

torch::Tensor SequenceModelImpl::OutputBias() const {
  return head.is_empty() ? torch::Tensor() : head->bias;
}

std::shared_ptr<SequenceModelImpl> MakeSequenceModel(const ModelConfig& config,
                                                     const Dropout& dropout, uint64_t seed) {
  if (config.architecture == Architecture::kTransformer)
    return std::make_shared<TransformerImpl>(config, dropout, seed);
  if (config.architecture == Architecture::kConvolution)
    return std::make_shared<ConvolutionalModelImpl>(config, dropout, seed);
  return std::make_shared<RecurrentModelImpl>(config, dropout, seed);
}

}  // namespace attend::nn
