// Vectors of texts, pictures or items as a NumPy array.
#ifndef ATTEND_PYTHON_MODULE_VECTOR_ROWS_H_
#define ATTEND_PYTHON_MODULE_VECTOR_ROWS_H_

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "python/module/arrays.h"
#include "python/module/texts.h"

namespace attend {

// Takes the vectors of items that come one after another.
class VectorRows {
 public:
  explicit VectorRows(int64_t width) : width_(static_cast<size_t>(width)) {}

  void Add(const std::vector<float>& vector, bool cut) {
    values_.insert(values_.end(), vector.begin(), vector.end());
    cut_.Add(cut, rows_++);
  }

  // NumPy's [rows, width], or [width] of `one`. Warns of texts that were cut.
  nanobind::object ToNumpy(bool one) && {
    Warn(cut_);
    const std::vector<size_t> shape = {static_cast<size_t>(rows_), width_};
    return ArrayOf(std::move(values_), std::span(shape).last(one ? 1 : 2));
  }

 private:
  std::vector<float> values_;
  CutTexts cut_;
  int64_t rows_ = 0;
  size_t width_;
};

}  // namespace attend

#endif  // ATTEND_PYTHON_MODULE_VECTOR_ROWS_H_
