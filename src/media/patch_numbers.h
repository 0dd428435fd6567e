// Pixels as numbers that an encoder of pictures reads.
#ifndef ATTEND_MEDIA_PATCH_NUMBERS_H_
#define ATTEND_MEDIA_PATCH_NUMBERS_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "attend/model_config.h"

namespace attend {

// Immutable; safe to use from many threads.
class PatchNumbers {
 public:
  explicit PatchNumbers(const PatchInput& input);

  // [patches, patch size], as PatchInput describes them, of a picture of its size: `pixels`
  // [height, width, channels]. Each number follows from one pixel, by f64 arithmetic that is
  // rounded once. Throws Error(kUsage) for pixels of another size.
  std::vector<float> Of(std::span<const uint8_t> pixels) const;

 private:
  PatchInput input_;
  std::vector<std::array<float, 256>> tables_;  // by channel and pixel
};

}  // namespace attend

#endif  // ATTEND_MEDIA_PATCH_NUMBERS_H_
