// Long recordings, cut where nobody speaks.
#ifndef ATTEND_MEDIA_SILENCE_H_
#define ATTEND_MEDIA_SILENCE_H_

#include <cstdint>
#include <span>
#include <vector>

namespace attend {

struct SilenceOptions {
  double max_seconds = 30;   // of a segment
  double min_silence = 0.3;  // seconds; shorter ones are part of speech
  double threshold = -40;    // dB; quieter than the loudest parts by more than this is silence
  double margin = 0.1;       // seconds of silence that stay around speech
};

// Samples [begin, end) of a recording.
struct SoundSegment {
  int64_t begin = 0, end = 0;
  bool operator==(const SoundSegment&) const = default;
};

// Segments in order, without overlap, of at most max_seconds each. Neighbours are joined as long as
// they fit. Speech that goes on for longer is cut at the quietest moment of a segment's second
// half. Silence at the ends and between segments is in none; a silent recording has no segments.
// The loudest parts are those that 1 % of all 10 ms exceed.
std::vector<SoundSegment> CutAtSilence(std::span<const float> samples, int64_t rate,
                                       const SilenceOptions& options);

}  // namespace attend

#endif  // ATTEND_MEDIA_SILENCE_H_
