// What a model gave for an input when it was exported: the proof it carries along. samples.json is
// a list of them.
#ifndef ATTEND_MODEL_SAMPLE_H_
#define ATTEND_MODEL_SAMPLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attend/model_config.h"
#include "base/json.h"

namespace attend {

// Logits that are kept of a step, at most.
inline constexpr int64_t kSampleTopLogits = 5;

// The largest logits at one step of the decoder.
struct TopLogits {
  int64_t position = 0;      // step, from 0: the logits that chose target_ids[position]
  std::vector<int32_t> ids;  // by falling logit
  std::vector<double> logits;
};

struct Sample {
  std::string source;  // text; empty for a model without vocabulary
  std::vector<int32_t>
      source_ids;  // as the encoder reads them, closing eos included; empty without encoder
  // Of a model that reads patches, in place of ids: a picture of its size, row by row, the channels
  // of a pixel side by side.
  std::vector<uint8_t> pixels;
  // Of a model that reads frames, in place of ids: samples of a recording at its rate, times 32768.
  std::vector<int16_t> sound;
  // Of a joint encoder, beside ids and pixels: rows of the linked nodes. What an item lacks of the
  // three is empty. None for other models.
  std::optional<std::vector<int32_t>> nodes;
  // Of a model with a shared_width: what its text and its picture are there, each by itself; empty
  // for what the item lacks. None for other models.
  struct SharedVectors {
    std::vector<double> text_W, picture_W;
  };
  std::optional<SharedVectors> shared;
  std::string target;
  // As the decoder gave them, without bos, with the closing eos where there is one. Without decoder
  // tokens or labels: one for each of source_ids, or one for the text.
  std::vector<int32_t> target_ids;
  // Of a parser with next_word_input, by target id: the place in source_ids of the word that comes
  // next, which the decoder read where it chose the id.
  std::vector<int32_t> next_words;
  double score = 0;  // sum of token_log_probabilities
  std::vector<double>
      token_log_probabilities;  // natural, one for each of target_ids, given those before it
  std::vector<TopLogits> top_logits;
};

Json SamplesToJson(const std::vector<Sample>& samples);

// Throws Error(kInput) opening with `where` for anything but a list as docs/model_file.md has it:
// unknown or missing keys, wrong types, ids outside the vocabulary, lists of different length, a
// score that is not the sum.
std::vector<Sample> SamplesFromJson(const Json& list, const ModelConfig& config,
                                    const std::string& where);

}  // namespace attend

#endif  // ATTEND_MODEL_SAMPLE_H_
