// Checks that tasks share.
#ifndef ATTEND_TASKS_CHECKS_H_
#define ATTEND_TASKS_CHECKS_H_

#include <atomic>
#include <cstdint>
#include <span>

#include "base/fields.h"

namespace attend {

// Throws Error(kUsage) for the first number out of its range: of options that came from code.
void CheckRanges(const FieldList& fields);

// Throws Error(kUsage) for an id outside a vocabulary of `size`.
void CheckIds(std::span<const int32_t> ids, int64_t size);

// Throws Error(kRuntime) once another thread has set `stop`, which may be null.
void CheckNotStopped(const std::atomic<bool>* stop);

}  // namespace attend

#endif  // ATTEND_TASKS_CHECKS_H_
