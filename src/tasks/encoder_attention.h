// What the rows of a text or a picture look at in an encoder alone.
#ifndef ATTEND_TASKS_ENCODER_ATTENTION_H_
#define ATTEND_TASKS_ENCODER_ATTENTION_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attend/scorer.h"
#include "engine/forward.h"
#include "tasks/loaded_model.h"

namespace attend {

struct EncoderAttention {
  std::vector<int32_t> ids;  // as the model's task reads the text, bos and eos included
  AttentionWeights weights;  // [layers][heads][queries][keys]
};

// Throws Error(kInput) for a text that is longer than the model can read, Error(kUsage) for a model
// of pictures. Precondition: the model has no decoder.
EncoderAttention AttentionOfEncoder(const LoadedModel& loaded, const std::string& text);

// The same of a picture of the model's size, `pixels` [height, width, channels]. The rows are the
// class token, where there is one, and the patches, row by row. Throws Error(kUsage) for a model
// that reads none.
AttentionWeights AttentionOfPicture(const LoadedModel& loaded, std::span<const uint8_t> pixels);

// The same of what the encoder reads, of a model of fusion the joint one.
AttentionWeights AttentionOfRead(const LoadedModel& loaded, const EncoderItem& read);

}  // namespace attend

#endif  // ATTEND_TASKS_ENCODER_ATTENTION_H_
