// What every encoder with a decoder is to training and to search: the Transformer, and the models
// that the paper compares it with.
#ifndef ATTEND_NN_SEQUENCE_MODEL_H_
#define ATTEND_NN_SEQUENCE_MODEL_H_

#include <memory>
#include <optional>

#include "attend/model_config.h"
#include "attend/nn/decoder_state.h"
#include "attend/nn/dropout.h"
#include "attend/nn/head.h"
#include "attend/nn/stacks.h"
#include "attend/nn/torch.h"

namespace attend::nn {

// Ids are int64, [sentences, longest], filled with special_ids.pad on the right. Parameters have
// the names and order of the model file (model/tensor_table.h); a tied weight stands once. Padding
// never reaches other positions' results; its own are of no use.
class SequenceModelImpl : public torch::nn::Module {
 public:
  // Hidden states under the output projection, of rows that are not padding, [R, D], sentence by
  // sentence; one source and one target for each sentence; row t of a target has seen its ids up to
  // t. With `dropout`, what it draws follows from the key alone; Error(kUsage) for a key on a
  // device other than a CPU, whose numbers are LibTorch's.
  virtual torch::Tensor PackedHidden(const PackedIds& source, const PackedIds& target,
                                     const std::optional<DropoutKey>& dropout = {}) = 0;
  // The same of padded ids, [B, T, D]. `source_padded` false: sources have no padding, which ids on
  // a GPU are not searched for.
  virtual torch::Tensor PaddedHidden(const torch::Tensor& source_BS, const torch::Tensor& target_BT,
                                     bool source_padded);

  // Search, without gradients. Start gives each source a row that has read nothing. Step reads a
  // token of each row, which the state then has, and gives hidden states [R, D].
  virtual DecoderState Start(const PackedIds& source) = 0;
  virtual torch::Tensor Step(const torch::Tensor& ids_R, DecoderState* state) = 0;

  // What the output projection reads; see HeadImpl.
  torch::Tensor HeadInput(const torch::Tensor& hidden_RD);
  // What the output projection reads, of any leading shape, to logits; and hidden states.
  torch::Tensor Project(const torch::Tensor& input_RD);
  torch::Tensor Logits(const torch::Tensor& hidden_RD);

  torch::Tensor DecoderEmbedding() const;  // [V, D]
  torch::Tensor OutputWeight() const;      // [V, D]
  torch::Tensor OutputBias() const;        // [V], or undefined
  const ModelConfig& config() const { return config_; }

  Head head{nullptr};  // empty where it has nothing of its own

 protected:
  // Throws Error(kConfiguration) for a configuration that makes no sense.
  explicit SequenceModelImpl(const ModelConfig& config);
  // Rows of the decoder's embedding, 0 where it is the encoder's.
  int64_t OwnTargetVocabulary() const;
  // After the stacks.
  void RegisterHead();
  // Null without it.
  virtual const StackImpl* encoder_stack() const = 0;
  virtual const StackImpl* decoder_stack() const = 0;
  // Of ids that follow on what each row of the state has read.
  static PackedIds NextIds(const torch::Tensor& ids_R, const DecoderState& state);

 private:
  ModelConfig config_;
};

// The model of a configuration. Weights follow from `seed` alone, but building also draws from
// Torch's default generator: seed that one afterwards. Throws Error(kConfiguration) for a
// configuration that makes no sense.
std::shared_ptr<SequenceModelImpl> MakeSequenceModel(const ModelConfig& config,
                                                     const Dropout& dropout = {},
                                                     uint64_t seed = 1);

}  // namespace attend::nn

#endif  // ATTEND_NN_SEQUENCE_MODEL_H_
