#include "python/module/attention.h"

#include <atomic>
#include <utility>

#include "python/module/bindings.h"
#include "python/module/texts.h"
#include "python/module/windows.h"

namespace attend {
namespace nb = nanobind;

nb::object ArrayOf(DenseAttention attention) {
  return ArrayOf(std::move(attention.weights), attention.shape);
}

nb::object AttentionOfOne(const LoadedModel& loaded, const nb::str& text) {
  const std::string given = TextOf(text);
  TextAttention found;
  Windows().Run([&](const std::atomic<bool>*) { found = AttentionOf(loaded, given); });
  return Make(PythonClass(kResultsModule, "TextAttention"), StrsOf(found.pieces),
              ArrayOf(std::move(found.weights)));
}

}  // namespace attend
