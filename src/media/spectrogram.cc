#include "media/spectrogram.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace attend {

Picture DrawSpectrogram(std::span<const float> frames_TM, int64_t mels, int64_t max_width) {
  const int64_t frames = std::ssize(frames_TM) / mels, width = std::min(frames, max_width);
  std::vector<float> columns_WM(static_cast<size_t>(width * mels));
  for (int64_t x = 0; x < width; ++x) {
    const int64_t begin = x * frames / width, end = (x + 1) * frames / width;
    for (int64_t band = 0; band < mels; ++band) {
      double sum = 0;
      for (int64_t t = begin; t < end; ++t) sum += frames_TM[t * mels + band];
      columns_WM[x * mels + band] = static_cast<float>(sum / static_cast<double>(end - begin));
    }
  }
  std::vector<float> sorted = columns_WM;
  const auto quiet = sorted.begin() + std::ssize(sorted) / 10;
  std::nth_element(sorted.begin(), quiet, sorted.end());
  const float low = *quiet, high = *std::max_element(sorted.begin(), sorted.end());
  const float scale = high > low ? 255 / (high - low) : 0;
  Picture picture(width, mels, 1);
  for (int64_t x = 0; x < width; ++x) {
    for (int64_t band = 0; band < mels; ++band) {
      const float shade = std::clamp((columns_WM[x * mels + band] - low) * scale, 0.0f, 255.0f);
      picture.row(mels - 1 - band)[x] = static_cast<uint8_t>(std::lround(shade));
    }
  }
  return picture;
}

}  // namespace attend
