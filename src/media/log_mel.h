// Log-mel frames of a sound, as speech models read it.
#ifndef ATTEND_MEDIA_LOG_MEL_H_
#define ATTEND_MEDIA_LOG_MEL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/fields.h"
#include "media/sound.h"

namespace attend {

enum class FrameScale {
  // Whisper's: the logarithm to base 10, at most 8 below the loudest number of the recording; then
  // (x + 4) / 4.
  kWhisper,
  kRecording,  // all numbers of a recording together have mean 0 and deviation 1
  kBands,      // those of each band of a recording have
};

// The defaults are Whisper's.
struct LogMelOptions {
  int64_t rate = 16000;  // samples a second
  int64_t fft = 400;     // samples that a frame sees, even
  int64_t hop = 160;     // samples from one frame to the next
  int64_t mels = 80;     // bands
  double low = 0;        // Hz, where the lowest band begins
  double high = 0;       // Hz, where the highest ends; 0: half the rate
  FrameScale scale = FrameScale::kWhisper;
};

FieldList Fields(LogMelOptions& options);

// Frames of one recording, which follow from its samples alone. Computed in f64 and rounded at the
// end. Immutable; safe to use from many threads.
class LogMel {
 public:
  // Throws Error(kConfiguration) for options that make no sense together.
  explicit LogMel(const LogMelOptions& options);
  ~LogMel();

  const LogMelOptions& options() const { return options_; }

  // Of so many samples: one for each whole hop, and at least one of any sound; 0 of none.
  int64_t FrameCount(int64_t samples) const;

  // [frames, mels]. Frame t is centred on sample t * hop, under a periodic Hann window, with the
  // sound mirrored beyond its ends. Precondition: `samples` are at options().rate.
  std::vector<float> Frames(std::span<const float> samples) const;

 private:
  struct Tables;

  LogMelOptions options_;
  std::unique_ptr<const Tables> tables_;
};

}  // namespace attend

#endif  // ATTEND_MEDIA_LOG_MEL_H_
