// NumPy arrays of what the engine gives.
#ifndef ATTEND_PYTHON_MODULE_ARRAYS_H_
#define ATTEND_PYTHON_MODULE_ARRAYS_H_

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>
#include <vector>

namespace attend {

// An array of this shape, which takes over the values as they lie in memory, row by row.
nanobind::object ArrayOf(std::vector<float> values, std::span<const size_t> shape);

}  // namespace attend

#endif  // ATTEND_PYTHON_MODULE_ARRAYS_H_
