// A model directory with int8 weights, from one with f32.
#ifndef ATTEND_TASKS_QUANTIZE_DIRECTORY_H_
#define ATTEND_TASKS_QUANTIZE_DIRECTORY_H_

#include <filesystem>

namespace attend {

// Writes the model directory `to`: `from` with the weights of QuantizeModel and samples of its own,
// by the reference kernels. A model without a head gets none: false. Throws Error(kUsage) where
// both are one directory; else as LoadModel, QuantizeModel and SaveModel.
bool QuantizeDirectory(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace attend

#endif  // ATTEND_TASKS_QUANTIZE_DIRECTORY_H_
