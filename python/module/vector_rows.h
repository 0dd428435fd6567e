// Vectors of texts, pictures or items as a NumPy array.
#ifndef ATTEND_PYTHON_MODULE_VECTOR_ROWS_H_
#define ATTEND_PYTHON_MODULE_VECTOR_ROWS_H_

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "python/module/interpreter.h"
#include "python/module/texts.h"

namespace attend {

// Takes the vectors of items that come one after another.
class VectorRows {
 public:
  explicit VectorRows(int64_t width) : width_(static_cast<size_t>(width)) {}

  void Add(const std::vector<float>& vector, bool cut) {
    values_->insert(values_->end(), vector.begin(), vector.end());
    cut_.Add(cut, rows_++);
  }

  // NumPy's [rows, width], or [width] of `one`. Warns of texts that were cut.
  nanobind::object ToNumpy(bool one) && {
    Warn(cut_);
    float* const data = values_->data();
    const nanobind::capsule owner(
        values_.get(), [](void* held) noexcept { delete static_cast<std::vector<float>*>(held); });
    values_.release();
    NewFromPython([] { return PyImport_ImportModule("numpy"); });  // which the cast then finds
    if (one)
      return nanobind::cast(
          nanobind::ndarray<nanobind::numpy, float, nanobind::ndim<1>>(data, {width_}, owner));
    const auto rows = static_cast<size_t>(rows_);
    return nanobind::cast(
        nanobind::ndarray<nanobind::numpy, float, nanobind::ndim<2>>(data, {rows, width_}, owner));
  }

 private:
  std::unique_ptr<std::vector<float>> values_ = std::make_unique<std::vector<float>>();
  CutTexts cut_;
  int64_t rows_ = 0;
  size_t width_;
};

}  // namespace attend

#endif  // ATTEND_PYTHON_MODULE_VECTOR_ROWS_H_
