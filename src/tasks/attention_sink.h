// Keeps what each row of a stack looks at.
#ifndef ATTEND_TASKS_ATTENTION_SINK_H_
#define ATTEND_TASKS_ATTENTION_SINK_H_

#include <cstdint>

#include "attend/model_config.h"
#include "attend/scorer.h"
#include "engine/stacks/encoder.h"

namespace attend {

// Adds each row's weights [keys] to `kept`, which must outlive the sink: [layers][heads][queries].
// For a model of this stack alone, and one text.
inline AttentionSink KeepAttention(const StackConfig& stack, AttentionWeights* kept) {
  kept->assign(stack.layers, std::vector<std::vector<std::vector<float>>>(stack.heads));
  return [kept](AttentionPlace, int64_t layer, int64_t, const float* weights_HS, int64_t keys) {
    for (auto& head : (*kept)[layer]) {
      head.emplace_back(weights_HS, weights_HS + keys);
      weights_HS += keys;
    }
  };
}

}  // namespace attend

#endif  // ATTEND_TASKS_ATTENTION_SINK_H_
