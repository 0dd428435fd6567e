// Log-mel frames of a sound, as speech models read it.
#ifndef ATTEND_MEDIA_LOG_MEL_H_
#define ATTEND_MEDIA_LOG_MEL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attend/model_config.h"

namespace attend {

// Frames of one recording, which follow from its samples alone. Computed in f64 and rounded at the
// end. Immutable; safe to use from many threads.
class LogMel {
 public:
  // Precondition: CheckModelConfig takes the input.
  explicit LogMel(const FrameInput& input);
  ~LogMel();

  // [FrameInput::FramesOf, mels]. Frame t is centred on sample t * hop, under a periodic Hann
  // window, with the sound mirrored beyond its ends. Precondition: `samples` are at the input's
  // rate. `warp`: of the bands, as MakeMelFilters takes it.
  std::vector<float> Frames(std::span<const float> samples, double warp = 1) const;

 private:
  struct Tables;

  FrameInput input_;
  std::unique_ptr<const Tables> tables_;
};

}  // namespace attend

#endif  // ATTEND_MEDIA_LOG_MEL_H_
