// What the tokens of a text look at in a language model.
#ifndef ATTEND_TASKS_LANGUAGE_MODEL_TEXT_ATTENTION_H_
#define ATTEND_TASKS_LANGUAGE_MODEL_TEXT_ATTENTION_H_

#include <cstdint>
#include <span>

#include "attend/scorer.h"
#include "engine/weights.h"

namespace attend {

// Of bos and these ids: [layers][heads][queries][keys], each row up to its own token. Throws
// Error(kInput) for more tokens than the model has positions.
AttentionWeights AttentionOfText(const Weights& weights, std::span<const int32_t> ids);

}  // namespace attend

#endif  // ATTEND_TASKS_LANGUAGE_MODEL_TEXT_ATTENTION_H_
