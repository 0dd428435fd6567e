// Tells a training that went wrong by its losses.
#ifndef ATTEND_TRAIN_DIVERGENCE_H_
#define ATTEND_TRAIN_DIVERGENCE_H_

#include <cstdint>
#include <filesystem>
#include <string>

namespace attend {

// What is to be said of the run whose updates are in `metrics` (metrics.jsonl): that its last
// losses are well above its first ones and those of guessing among `choices` targets, or that most
// of its last updates were skipped. Empty where all is well.
std::string DivergenceIn(const std::filesystem::path& metrics, int64_t choices);

}  // namespace attend

#endif  // ATTEND_TRAIN_DIVERGENCE_H_
