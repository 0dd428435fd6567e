// What the tokens of a text look at in an encoder alone.
#ifndef ATTEND_TASKS_ENCODER_ATTENTION_H_
#define ATTEND_TASKS_ENCODER_ATTENTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "attend/scorer.h"
#include "tasks/loaded_model.h"

namespace attend {

struct EncoderAttention {
  std::vector<int32_t> ids;  // as the model's task reads the text, bos and eos included
  AttentionWeights weights;  // [layers][heads][queries][keys]
};

// Throws Error(kInput) for a text that is longer than the model can read. Precondition: the model
// has no decoder.
EncoderAttention AttentionOfEncoder(const LoadedModel& loaded, const std::string& text);

}  // namespace attend

#endif  // ATTEND_TASKS_ENCODER_ATTENTION_H_
