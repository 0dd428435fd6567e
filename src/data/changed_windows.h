// Windows of another source, with examples that are changed anew in each epoch.
#ifndef ATTEND_DATA_CHANGED_WINDOWS_H_
#define ATTEND_DATA_CHANGED_WINDOWS_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

#include "data/example_source.h"

namespace attend {

// Gives the examples of a window in place of its own; callable on any thread. `first` numbers the
// first of them among the epoch's, with gaps.
using ChangeExamples =
    std::function<ExampleTable(const ExampleTable& examples, uint64_t epoch, uint64_t first)>;

// The epoch of changes that are always the same: those of what a model is judged by.
inline constexpr uint64_t kNoEpoch = std::numeric_limits<uint64_t>::max();
// Decides the change of the example with this number.
uint64_t ChangeKey(uint64_t seed, uint64_t epoch, uint64_t number);

std::unique_ptr<WindowReader> ChangeWindows(std::unique_ptr<WindowReader> windows,
                                            ChangeExamples change);

}  // namespace attend

#endif  // ATTEND_DATA_CHANGED_WINDOWS_H_
