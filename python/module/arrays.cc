#include "python/module/arrays.h"

#include <nanobind/ndarray.h>

#include <memory>
#include <utility>

#include "python/module/interpreter.h"

namespace attend {
namespace nb = nanobind;

nb::object ArrayOf(std::vector<float> values, std::span<const size_t> shape) {
  auto owned = std::make_unique<std::vector<float>>(std::move(values));
  float* const data = owned->data();
  const nb::capsule owner(
      owned.get(), [](void* held) noexcept { delete static_cast<std::vector<float>*>(held); });
  owned.release();
  NewFromPython([] { return PyImport_ImportModule("numpy"); });  // which the cast then finds
  return nb::cast(nb::ndarray<nb::numpy, float>(data, shape.size(), shape.data(), owner));
}

}  // namespace attend
