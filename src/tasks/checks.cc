#include "tasks/checks.h"

#include <fmt/format.h>

#include "attend/error.h"

namespace attend {

void CheckRanges(const FieldList& fields) {
  for (const Field& field : fields.fields()) {
    const double value = std::holds_alternative<int64_t*>(field.value)
                             ? static_cast<double>(*std::get<int64_t*>(field.value))
                         : std::holds_alternative<double*>(field.value)
                             ? *std::get<double*>(field.value)
                             : field.min;
    if (value >= field.min && value <= field.max) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("{} is {}, expected {}", field.name, value, field.RangeText()));
  }
}

void CheckIds(std::span<const int32_t> ids, int64_t size) {
  for (const int32_t id : ids) {
    if (id >= 0 && id < size) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("id {} is outside the vocabulary; expected 0 to {}", id, size - 1));
  }
}

void CheckNotStopped(const std::atomic<bool>* stop) {
  if (stop != nullptr && *stop) throw Error(ErrorKind::kRuntime, "the call was stopped");
}

}  // namespace attend
