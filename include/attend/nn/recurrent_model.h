// The recurrent model that the paper compares the Transformer with: deep LSTMs with attention, in
// the shape of GNMT (Wu et al. 2016, "Google's Neural Machine Translation System"), or GRUs.
#ifndef ATTEND_NN_RECURRENT_MODEL_H_
#define ATTEND_NN_RECURRENT_MODEL_H_

#include <cstdint>
#include <optional>

#include "attend/nn/attention.h"
#include "attend/nn/sequence_model.h"
#include "attend/nn/stacks.h"
#include "attend/nn/torch.h"

namespace attend::nn {

// One layer of LSTM or GRU cells, as torch::nn::LSTM and GRU compute them. Gates stand one below
// the other in PyTorch's order.
class RecurrentLayerImpl : public torch::nn::Module {
 public:
  RecurrentLayerImpl(Architecture cell, int64_t in, int64_t out);
  // [T, B, in] to [T, B, out], from `state` (what StateSize says; undefined: zeros), which then is
  // that of the last step.
  torch::Tensor forward(const torch::Tensor& x_TBI, torch::Tensor* state_BE = nullptr);
  // Of one row: hidden state and, of an LSTM, cell, side by side.
  int64_t StateSize() const;
  bool lstm() const { return lstm_; }

  torch::Tensor weight_input, weight_hidden;  // [gates * out, in] and [gates * out, out]
  torch::Tensor bias_input, bias_hidden;      // [gates * out]

 private:
  bool lstm_;
  int64_t out_;
};
TORCH_MODULE(RecurrentLayer);

// How packed rows stand step by step: [T, B], short sentences filled with their last row.
class StepOrder {
 public:
  // With `backward` each sentence's last row comes first.
  StepOrder(const PackedIds& ids, bool backward);
  torch::Tensor ToSteps(const torch::Tensor& x_RD) const;  // [T, B, D]
  torch::Tensor ToRows(const torch::Tensor& x_TBD) const;  // [R, D]

 private:
  int64_t sentences_;
  torch::Tensor row_of_step_, step_of_row_;
};

// The first layer reads both ways, each of half the width. From the third on, layers have residual
// connections.
class RecurrentEncoderImpl : public StackImpl {
 public:
  RecurrentEncoderImpl(Architecture cell, const StackConfig& config, const Dropout& dropout,
                       int64_t vocab_size);
  torch::Tensor forward(const PackedIds& ids, DropoutStream* dropout);  // [R, D]

  RecurrentLayer forward_layer{nullptr}, backward_layer{nullptr};  // together the first

 private:
  double dropout_;
};
TORCH_MODULE(RecurrentEncoder);

// The first layer's outputs look for a context in the encoder's, which all further layers read
// beside their input. The context of a step does not depend on that of the step before, so that all
// steps are computed together in training; GNMT's first layer reads the last context, too.
class RecurrentDecoderImpl : public StackImpl {
 public:
  RecurrentDecoderImpl(Architecture cell, const StackConfig& config, const Dropout& dropout,
                       int64_t vocab_size);
  torch::Tensor forward(const torch::Tensor& x_RD, const PackedIds& ids, const Memory& memory,
                        DropoutStream* dropout);
  DecoderState Start(const torch::Tensor& memory_RD, const torch::Tensor& offsets_B1);
  torch::Tensor Step(const torch::Tensor& x_RD, DecoderState* state);

  MultiHeadAttention attention{nullptr};

 private:
  double dropout_;
};
TORCH_MODULE(RecurrentDecoder);

class RecurrentModelImpl : public SequenceModelImpl {
 public:
  RecurrentModelImpl(const ModelConfig& config, const Dropout& dropout, uint64_t seed);
  torch::Tensor PackedHidden(const PackedIds& source, const PackedIds& target,
                             const std::optional<DropoutKey>& dropout = {}) override;
  DecoderState Start(const PackedIds& source) override;
  torch::Tensor Step(const torch::Tensor& ids_R, DecoderState* state) override;

  RecurrentEncoder encoder{nullptr};
  RecurrentDecoder decoder{nullptr};

 protected:
  const StackImpl* encoder_stack() const override { return encoder.get(); }
  const StackImpl* decoder_stack() const override { return decoder.get(); }
};

}  // namespace attend::nn

#endif  // ATTEND_NN_RECURRENT_MODEL_H_
