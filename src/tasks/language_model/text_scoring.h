// Log-probabilities of given texts by a language model, long ones in windows.
#ifndef ATTEND_TASKS_LANGUAGE_MODEL_TEXT_SCORING_H_
#define ATTEND_TASKS_LANGUAGE_MODEL_TEXT_SCORING_H_

#include <cstdint>
#include <span>
#include <vector>

#include "attend/generator.h"
#include "engine/weights.h"
#include "tasks/task_threads.h"

namespace attend {

// A part of a text that the model sees at once: bos in place of token `begin`, and tokens
// (begin, end), of which those after the first `context` + 1 are scored.
struct TextWindow {
  int64_t begin = 0, end = 0, context = 0;
  bool operator==(const TextWindow&) const = default;
};

// Of a text of so many tokens, bos and what is scored at its end included. The first window has no
// context but bos; each later one moves on by `stride` and scores as many, or what is left.
std::vector<TextWindow> WindowsOf(int64_t tokens, int64_t window, int64_t stride);

// Throws Error(kUsage) for a window beyond the model's positions and a stride beyond the window,
// and Error(kRuntime) once options.stop is set. Preconditions: CheckTextScoreOptions takes the
// options; ids are in the vocabulary.
std::vector<TextScore> ScoreTexts(const Weights& weights,
                                  std::span<const std::vector<int32_t>> texts,
                                  const TextScoreOptions& options, TaskThreads* threads);

}  // namespace attend

#endif  // ATTEND_TASKS_LANGUAGE_MODEL_TEXT_SCORING_H_
