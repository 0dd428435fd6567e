// Recognizes by its losses that a training run has diverged.
#ifndef ATTEND_TRAIN_LOOP_DIVERGENCE_H_
#define ATTEND_TRAIN_LOOP_DIVERGENCE_H_

#include <cstdint>
#include <filesystem>
#include <string>

namespace attend {

// A warning about the run whose updates are in `metrics` (metrics.jsonl): its last losses are well
// above its first ones and above guessing among `choices` targets, or most of its last updates were
// skipped. Empty if all is well.
std::string DivergenceIn(const std::filesystem::path& metrics, int64_t choices);

}  // namespace attend

#endif  // ATTEND_TRAIN_LOOP_DIVERGENCE_H_
