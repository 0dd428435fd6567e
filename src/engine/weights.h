// The weights of a model, packed for one instruction set: all that its runs share.
#ifndef ATTEND_ENGINE_WEIGHTS_H_
#define ATTEND_ENGINE_WEIGHTS_H_

#include <memory>
#include <optional>
#include <string>

#include "engine/stacks/decoder.h"
#include "engine/stacks/encoder.h"
#include "engine/stacks/head.h"
#include "model/model_directory.h"

namespace attend {

// Immutable; safe to use from many threads, each with Activations and a DecoderCache of its own.
struct Weights {
  // `instruction_set` as for SelectKernels. Throws Error(kInput) for weights of a type it does not
  // know.
  Weights(std::shared_ptr<const Model> given, const std::string& instruction_set);
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;

  const ModelConfig& config() const { return model->config; }

  const std::shared_ptr<const Model> model;  // embeddings are read where they lie in it
  const KernelTable& kernels;
  PackedMemory memory;
  // What the model has of these.
  std::optional<Encoder> encoder;
  std::optional<Decoder> decoder;
  std::optional<Linear> vocabulary_head;  // of a decoder
  std::optional<EncoderHead> encoder_head;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_WEIGHTS_H_
