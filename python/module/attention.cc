#include "python/module/attention.h"

#include <nanobind/ndarray.h>

#include <atomic>
#include <memory>
#include <utility>

#include "python/module/bindings.h"
#include "python/module/interpreter.h"
#include "python/module/texts.h"
#include "python/module/windows.h"

namespace attend {
namespace nb = nanobind;

nb::object ArrayOf(DenseAttention attention) {
  auto owned = std::make_unique<std::vector<float>>(std::move(attention.weights));
  float* const data = owned->data();
  const nb::capsule owner(owned.get(), [](void* weights) noexcept {
    delete static_cast<std::vector<float>*>(weights);
  });
  owned.release();
  using Array = nb::ndarray<nb::numpy, float, nb::ndim<4>, nb::c_contig>;
  NewFromPython([] { return PyImport_ImportModule("numpy"); });  // which the cast then finds
  return nb::cast(Array(data, 4, attention.shape.data(), owner));
}

nb::list StrsOf(const std::vector<std::string>& texts) {
  nb::list strs;
  for (const std::string& text : texts) strs.append(StrOf(text));
  return strs;
}

nb::object AttentionOfOne(const LoadedModel& loaded, const nb::str& text) {
  const std::string given = TextOf(text);
  TextAttention found;
  Windows().Run([&](const std::atomic<bool>*) { found = AttentionOf(loaded, given); });
  return Make(PythonClass(kResultsModule, "TextAttention"), StrsOf(found.pieces),
              ArrayOf(std::move(found.weights)));
}

}  // namespace attend
