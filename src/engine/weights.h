// The weights of a model, packed for one instruction set: all that its runs share.
#ifndef ATTEND_ENGINE_WEIGHTS_H_
#define ATTEND_ENGINE_WEIGHTS_H_

#include <memory>
#include <optional>
#include <string>

#include "engine/stacks/decoder.h"
#include "engine/stacks/encoder.h"
#include "engine/stacks/head.h"
#include "model/adapted_model.h"
#include "model/model_directory.h"

namespace attend {

// Of a Transformer: other architectures have nothing packed. Immutable; safe to use from many
// threads, each with Activations and a DecoderCache of its own.
struct Weights {
  // `instruction_set` as for SelectKernels. Throws Error(kInput) for weights of a type it does not
  // know.
  Weights(std::shared_ptr<const Model> given, const std::string& instruction_set);
  // Of a model with an adapter: shares what `of_base` has packed of the same tensors.
  Weights(const AdaptedModel& adapted, std::shared_ptr<const Weights> of_base);
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;

  const ModelConfig& config() const { return model->config; }

  // Embeddings are read where they lie in it; matrices that an adapter changes are not in it.
  const std::shared_ptr<const Model> model;
  const std::shared_ptr<const Weights> base;  // null: none
  const KernelTable& kernels;
  PackedMatrices packed;
  // What the model has of these.
  std::optional<Encoder> encoder;
  std::optional<Decoder> decoder;
  std::optional<Linear> vocabulary_head;  // of a decoder
  std::optional<EncoderHead> encoder_head;

 private:
  void Pack(const TensorTable* adapted);
};

}  // namespace attend

#endif  // ATTEND_ENGINE_WEIGHTS_H_
