// What a thread needs to run a model, beside its weights and the cache of a search.
#ifndef ATTEND_ENGINE_ACTIVATIONS_H_
#define ATTEND_ENGINE_ACTIVATIONS_H_

#include <span>
#include <vector>

#include "engine/row_sampler.h"
#include "engine/stacks/decoder.h"
#include "kernels/inference/kernels.h"

namespace attend {

// What the output layer keeps of the rows that it answers.
struct OutputScratch {
  std::vector<float> top_values;
  std::vector<int32_t> top_ids;
  std::vector<TopK> top;
  std::vector<float> wanted;
  std::vector<int32_t> forbidden;    // of one row, as columns
  std::vector<float> also;           // logits of NextToken::also, row by row
  std::vector<int64_t> also_first;   // where a row's begin
  std::vector<RowSampler> samplers;  // of the rows that draw, in order
  std::vector<int32_t> sampler_of;   // by row; -1: none
};

// Memory of one thread, for one run after another; keeps what it grew to.
struct Activations {
  PositionTable encoder_positions, decoder_positions;
  Scratch scratch;
  Buffer memory_SD;  // of the sources last encoded
  Buffer hidden_RD;  // of the rows last decoded
  Buffer logits;
  OutputScratch output;
  std::vector<EncoderItem> sources;
  std::vector<NewSource> new_sources;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_ACTIVATIONS_H_
