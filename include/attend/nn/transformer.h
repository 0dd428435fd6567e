// The whole model of a ModelConfig: embeddings, stacks, output projection, and the ties between
// them.
#ifndef ATTEND_NN_TRANSFORMER_H_
#define ATTEND_NN_TRANSFORMER_H_

#include <optional>

#include "attend/model_config.h"
#include "attend/nn/sequence_model.h"
#include "attend/nn/stacks.h"
#include "attend/nn/torch.h"

namespace attend::nn {

struct Trace {
  StackTrace encoder;
  StackTrace decoder;
};

// Of any stacks: an encoder with a decoder is a SequenceModel, and so is a decoder alone, whose
// sources are empty.
class TransformerImpl : public SequenceModelImpl {
 public:
  // Weights follow from `seed` alone, but building also draws from Torch's default generator: seed
  // that one afterwards. Throws Error(kConfiguration) for a configuration that makes no sense.
  explicit TransformerImpl(const ModelConfig& config, const Dropout& dropout = {},
                           uint64_t seed = 1);

  // The encoder's output and the mask of its padding, which ids on a GPU are not searched for:
  // without `padded` there is none. Precondition: the model has an encoder.
  Memory Encode(const torch::Tensor& source_BS, StackTrace* trace = nullptr, bool padded = true);
  // Hidden states under the output projection, [B, T, D]; row t has seen target ids up to t.
  // `memory` is empty where the model has no encoder.
  torch::Tensor Decode(const torch::Tensor& target_BT, const Memory& memory = {},
                       StackTrace* trace = nullptr);
  // Decode(Encode()): what a loss that projects by itself needs.
  torch::Tensor Hidden(const torch::Tensor& source_BS, const torch::Tensor& target_BT,
                       Trace* trace = nullptr);
  torch::Tensor PackedHidden(const PackedIds& source, const PackedIds& target,
                             const std::optional<DropoutKey>& dropout = {}) override;
  // The same, which keeps the cross-attention of a layer and the encoder's output [R, D], each
  // where it is not null. Precondition: there is an encoder.
  torch::Tensor PackedHidden(const PackedIds& source, const PackedIds& target,
                             const std::optional<DropoutKey>& dropout, CrossWeights* kept,
                             torch::Tensor* memory_RD = nullptr);
  torch::Tensor PaddedHidden(const torch::Tensor& source_BS, const torch::Tensor& target_BT,
                             bool source_padded) override;
  DecoderState Start(const PackedIds& source) override;
  torch::Tensor Step(const torch::Tensor& ids_R, DecoderState* state) override;
  // The encoder's output [R, D], sentence by sentence, without padding; `dropout` as
  // PackedHidden has it.
  torch::Tensor PackedEncode(const PackedIds& source,
                             const std::optional<DropoutKey>& dropout = {});
  // The encoder's output [B, rows, D] of whole pictures, on any device. Precondition: it reads
  // patches.
  torch::Tensor EncodePictures(const torch::Tensor& patches_PE);
  // What the head labels: all rows, or one for each text [B, D].
  torch::Tensor Pool(const torch::Tensor& hidden_RD, const PackedIds& source) const;
  // Logits [B, T, V].
  torch::Tensor forward(const torch::Tensor& source_BS, const torch::Tensor& target_BT,
                        Trace* trace = nullptr);

  TransformerEncoder encoder{nullptr};
  TransformerDecoder decoder{nullptr};

 protected:
  const StackImpl* encoder_stack() const override { return encoder.get(); }
  const StackImpl* decoder_stack() const override { return decoder.get(); }
};
TORCH_MODULE(Transformer);

}  // namespace attend::nn

#endif  // ATTEND_NN_TRANSFORMER_H_
