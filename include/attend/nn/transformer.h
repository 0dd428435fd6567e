// The whole model of a ModelConfig: embeddings, stacks, output projection, and the ties between
// them.
#ifndef ATTEND_NN_TRANSFORMER_H_
#define ATTEND_NN_TRANSFORMER_H_

#include <optional>

#include "attend/model_config.h"
#include "attend/nn/crf.h"
#include "attend/nn/stacks.h"
#include "attend/nn/torch.h"

namespace attend::nn {

struct Trace {
  StackTrace encoder;
  StackTrace decoder;
};

// Fills a module's parameters from `generator`, in the order of their names in the module:
// projections Xavier uniform (query, key and value with 1/sqrt(2) of the bound), embeddings,
// learned positions and the output projection N(0, 1/d_model), biases, those of distances too, 0,
// norms 1 and 0.
void InitializeWeights(torch::nn::Module& module, torch::Generator generator);

// What a head has of its own: `weight` [V, D] where it is not tied, `bias` [V] where there is one,
// and the layers before the projection that an encoder's head may have.
class HeadImpl : public torch::nn::Module {
 public:
  explicit HeadImpl(const ModelConfig& config);
  // What the projection reads: hidden states, or what the layers before it make of them.
  torch::Tensor forward(const torch::Tensor& hidden_RD);

  torch::Tensor weight, bias;
  CrfScores crf;  // undefined without one
  // For masked tokens: norm(activation(transform(x))).
  torch::nn::Linear transform{nullptr};
  Norm norm{nullptr};
  torch::nn::Linear pooler{nullptr};  // for texts: tanh(pooler(x))

 private:
  Activation activation_;
  PoolerActivation pooler_activation_;
};
TORCH_MODULE(Head);

// Ids are int64, [sentences, longest], filled with special_ids.pad on the right. Parameters have
// the names and order of the model file (model/tensor_table.h); a tied weight stands once. Padding
// never reaches other positions' results; its own are of no use.
class TransformerImpl : public torch::nn::Module {
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
  // The rows of Hidden() that are not padding, [R, D], sentence by sentence; one source and one
  // target for each sentence. With `dropout`, what it draws follows from the key alone;
  // Error(kUsage) for a key on a device other than a CPU, whose numbers are LibTorch's.
  torch::Tensor PackedHidden(const PackedIds& source, const PackedIds& target,
                             const std::optional<DropoutKey>& dropout = {});
  // The encoder's output [R, D], sentence by sentence, without padding; `dropout` as above.
  torch::Tensor PackedEncode(const PackedIds& source,
                             const std::optional<DropoutKey>& dropout = {});
  // What the head labels: all rows, or one for each text [B, D].
  torch::Tensor Pool(const torch::Tensor& hidden_RD, const PackedIds& source) const;
  // What the output projection reads; see HeadImpl.
  torch::Tensor HeadInput(const torch::Tensor& hidden_RD);
  // What the output projection reads, of any leading shape, to logits; and hidden states.
  torch::Tensor Project(const torch::Tensor& input_RD);
  torch::Tensor Logits(const torch::Tensor& hidden_RD);
  // Logits [B, T, V].
  torch::Tensor forward(const torch::Tensor& source_BS, const torch::Tensor& target_BT,
                        Trace* trace = nullptr);

  torch::Tensor DecoderEmbedding() const;  // [V, D]
  torch::Tensor OutputWeight() const;      // [V, D]
  torch::Tensor OutputBias() const;        // [V], or undefined
  const ModelConfig& config() const { return config_; }

  TransformerEncoder encoder{nullptr};
  TransformerDecoder decoder{nullptr};
  Head head{nullptr};  // empty where it has nothing of its own

 private:
  ModelConfig config_;
};
TORCH_MODULE(Transformer);

}  // namespace attend::nn

#endif  // ATTEND_NN_TRANSFORMER_H_
