// Frames of a recording as people look at them.
#ifndef ATTEND_MEDIA_SPECTROGRAM_H_
#define ATTEND_MEDIA_SPECTROGRAM_H_

#include <cstdint>
#include <span>

#include "media/picture.h"

namespace attend {

// Time from the left, bands from the lowest at the bottom; the loudest numbers are white, and black
// what is at most the tenth percentile. Frames that share a column of pixels become their mean, so
// that there are at most `max_width` columns. Precondition: there is a frame at least.
Picture DrawSpectrogram(std::span<const float> frames_TM, int64_t mels, int64_t max_width);

}  // namespace attend

#endif  // ATTEND_MEDIA_SPECTROGRAM_H_
