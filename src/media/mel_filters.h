// Triangles over the bins of a spectrum, evenly spaced on the mel scale of Slaney's Auditory
// Toolbox (1998): linear up to 1,000 Hz, logarithmic above. Equal to librosa.filters.mel, which
// Whisper uses.
#ifndef ATTEND_MEDIA_MEL_FILTERS_H_
#define ATTEND_MEDIA_MEL_FILTERS_H_

#include <cstdint>
#include <vector>

namespace attend {

// The bins that one filter weighs; its area is one.
struct MelFilter {
  int64_t first = 0;
  std::vector<double> weights;
};

// `mels` filters over the fft / 2 + 1 bins of a spectrum of real numbers, between two frequencies
// in Hz. They see a voice as if its frequencies were `warp` times as high: up to those of speech's
// formants in proportion, beyond so that half the rate stays where it is (vocal tract length
// perturbation, Jaitly and Hinton 2013). Preconditions: 0 <= low < high <= rate / 2, 0 < warp < 2.
std::vector<MelFilter> MakeMelFilters(int64_t rate, int64_t fft, int64_t mels, double low,
                                      double high, double warp = 1);

}  // namespace attend

#endif  // ATTEND_MEDIA_MEL_FILTERS_H_
