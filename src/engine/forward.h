// Runs of the stacks: sources through the encoder, tokens through the decoder.
#ifndef ATTEND_ENGINE_FORWARD_H_
#define ATTEND_ENGINE_FORWARD_H_

#include <cstdint>
#include <span>
#include <vector>

#include "engine/activations.h"
#include "engine/stacks/fused_input.h"
#include "engine/weights.h"
#include "search/stepper.h"

namespace attend {

// Writes [rows, D] of the items, one after another, into memory_SD. Precondition: the model has
// an encoder.
void Encode(const Weights& weights, std::span<const EncoderItem> items, const Sinks& sinks,
            Activations* activations);

// Puts the rows with these numbers, which rise, at the front of memory_SD.
void KeepEncoded(const Weights& weights, std::span<const int64_t> rows, Activations* activations);

// Makes one row of each text's rows in memory_SD; with Pooling::kTokens all rows stay. Gives their
// number. `lengths` are the texts' in tokens.
int64_t Pool(const Weights& weights, Pooling pooling, std::span<const int64_t> lengths,
             Activations* activations);

// The vectors [items, W] that the items' texts, or pictures, have in the space that both share, in
// memory_SD. Preconditions: the model has a shared_width, and every item has that part.
const float* SharedVectorsOf(const Weights& weights, FusedInput::Part part,
                             std::span<const EncoderItem> items, Activations* activations);

// Logits [rows, width] of the first `rows` in memory_SD, in activations->logits. Changes memory_SD.
// Precondition: the model is an encoder with a head.
void EncoderLogits(const Weights& weights, int64_t rows, Activations* activations);

// Encodes sentences (nothing of them for a model without encoder) and begins them. Precondition:
// the model has a decoder.
void Start(const Weights& weights, std::span<const NewSentence> sentences, const Sinks& sinks,
           Activations* activations, DecoderCache* cache);
// The same of these sources alone, one hypothesis each: source i is sentence i of a cache that
// forgets what it held.
void StartAll(const Weights& weights, std::span<const EncoderItem> sources, const Sinks& sinks,
              Activations* activations, DecoderCache* cache);

// Runs the rows through the decoder; [rows, D] is in hidden_RD.
void Decode(const Weights& weights, std::span<const DecoderRow> rows, const Sinks& sinks,
            Activations* activations, DecoderCache* cache);

}  // namespace attend

#endif  // ATTEND_ENGINE_FORWARD_H_
