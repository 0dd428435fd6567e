// Pictures as an encoder reads them.
#ifndef ATTEND_TASKS_PICTURE_INPUTS_H_
#define ATTEND_TASKS_PICTURE_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "attend/model_config.h"
#include "tasks/encoder_runner.h"

namespace attend {

// Throws Error(kUsage) for a model that reads something else.
void CheckReads(const ModelConfig& config, bool pictures);

// Pixels of PNG and JPEG files' bytes, brought to the model's size. Throws Error(kInput) naming the
// first that is none, by `names` or its number.
std::vector<std::vector<uint8_t>> PixelsOfFiles(std::span<const std::string> files,
                                                std::span<const std::string> names,
                                                const PatchInput& input);

// Calls `run` with some pictures after others, so that the numbers of few are in memory at once;
// `first`: the index of the first of them. Throws Error(kUsage) for pixels of another size.
void ForPictures(
    std::span<const std::vector<uint8_t>> pictures, const PatchInput& input,
    const std::function<void(std::span<const EncoderInput> inputs, size_t first)>& run);

}  // namespace attend

#endif  // ATTEND_TASKS_PICTURE_INPUTS_H_
