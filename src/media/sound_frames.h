// Sound as numbers that an encoder of sound reads.
#ifndef ATTEND_MEDIA_SOUND_FRAMES_H_
#define ATTEND_MEDIA_SOUND_FRAMES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attend/model_config.h"
#include "media/log_mel.h"
#include "media/sound.h"

namespace attend {

// Immutable; safe to use from many threads.
class SoundFrames {
 public:
  // Precondition: CheckModelConfig takes the input.
  explicit SoundFrames(const FrameInput& input);

  // [frames, mels] of samples at the input's rate, silence after them where the input is filled up.
  // Throws Error(kInput) that opens with `name` for an empty sound, and for one that is longer than
  // what is filled up. `warp`: of the bands, as LogMel::Frames takes it.
  std::vector<float> Of(std::span<const float> samples, const std::string& name,
                        double warp = 1) const;
  // The frames of so many samples.
  int64_t Count(int64_t samples) const;

  const FrameInput& input() const { return input_; }

 private:
  FrameInput input_;
  LogMel log_mel_;
};

// Samples in 16 bits, as samples of models keep them: times 32768, cut beyond -1 and 1.
std::vector<int16_t> SixteenBits(std::span<const float> samples);
std::vector<float> OfSixteenBits(std::span<const int16_t> samples);

}  // namespace attend

#endif  // ATTEND_MEDIA_SOUND_FRAMES_H_
