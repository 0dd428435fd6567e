#include "media/log_mel.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <kissfft/kissfft.hh>
#include <numbers>

#include "media/mel_filters.h"

namespace attend {
namespace {

constexpr double kFloor = 1e-10;  // of a band's energy, whose logarithm has to be finite

// Position `i` of a sequence of `size` that is mirrored at its first and last member.
int64_t Mirrored(int64_t i, int64_t size) {
  if (size == 1) return 0;
  const int64_t period = 2 * (size - 1);
  i = ((i % period) + period) % period;
  return std::min(i, period - i);
}

// Mean 0 and deviation 1 of `count` numbers that lie `step` apart.
void Standardise(double* numbers, int64_t count, int64_t step) {
  double mean = 0, variance = 0;
  for (int64_t i = 0; i < count; ++i) mean += numbers[i * step];
  mean /= static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i) {
    numbers[i * step] -= mean;
    variance += numbers[i * step] * numbers[i * step];
  }
  // Digital silence has no deviation.
  const double deviation = std::max(std::sqrt(variance / static_cast<double>(count)), 1e-5);
  for (int64_t i = 0; i < count; ++i) numbers[i * step] /= deviation;
}

void Scale(FrameScale scale, int64_t mels, std::vector<double>* energies) {
  std::vector<double>& numbers = *energies;
  const int64_t count = std::ssize(numbers);
  for (double& number : numbers) number = std::log10(std::max(number, kFloor));
  switch (scale) {
    case FrameScale::kWhisper: {
      const double least = *std::ranges::max_element(numbers) - 8;
      for (double& number : numbers) number = (std::max(number, least) + 4) / 4;
      break;
    }
    case FrameScale::kRecording:
      Standardise(numbers.data(), count, 1);
      break;
    case FrameScale::kBands:
      for (int64_t mel = 0; mel < mels; ++mel)
        Standardise(numbers.data() + mel, count / mels, mels);
      break;
  }
}

std::vector<MelFilter> FiltersOf(const FrameInput& input, double warp) {
  const double high = input.high > 0 ? input.high : static_cast<double>(input.rate) / 2;
  return MakeMelFilters(input.rate, input.fft, input.mels, input.low, high, warp);
}

}  // namespace

struct LogMel::Tables {
  std::vector<double> window;
  std::vector<MelFilter> filters;
};

LogMel::LogMel(const FrameInput& input) : input_(input) {
  auto tables = std::make_unique<Tables>();
  for (int64_t i = 0; i < input_.fft; ++i) {
    const double turn = static_cast<double>(i) / static_cast<double>(input_.fft);
    tables->window.push_back(0.5 - 0.5 * std::cos(2 * std::numbers::pi * turn));
  }
  tables->filters = FiltersOf(input, 1);
  tables_ = std::move(tables);
}

LogMel::~LogMel() = default;

std::vector<float> LogMel::Frames(std::span<const float> samples, double warp) const {
  const int64_t fft = input_.fft, frames = input_.FramesOf(std::ssize(samples));
  if (frames == 0) return {};
  const std::vector<MelFilter> warped =
      warp == 1 ? std::vector<MelFilter>() : FiltersOf(input_, warp);
  const std::vector<MelFilter>& filters = warp == 1 ? tables_->filters : warped;
  // A transform has memory of its own, so each call makes one. It takes pairs of real numbers as
  // complex ones.
  const kissfft<double> transform(static_cast<size_t>(fft / 2), /*inverse=*/false);
  std::vector<double> seen(fft), power(fft / 2 + 1);
  std::vector<std::complex<double>> spectrum(fft / 2);
  std::vector<double> energies(frames * input_.mels);
  for (int64_t t = 0; t < frames; ++t) {
    const int64_t begin = t * input_.hop - fft / 2;
    for (int64_t i = 0; i < fft; ++i)
      seen[i] = tables_->window[i] * samples[Mirrored(begin + i, std::ssize(samples))];
    transform.transform_real(seen.data(), spectrum.data());
    // The first and last bin are real, and share a place.
    power[0] = spectrum[0].real() * spectrum[0].real();
    power[fft / 2] = spectrum[0].imag() * spectrum[0].imag();
    for (int64_t bin = 1; bin < fft / 2; ++bin) power[bin] = std::norm(spectrum[bin]);
    for (int64_t mel = 0; mel < input_.mels; ++mel) {
      const MelFilter& filter = filters[mel];
      double sum = 0;
      for (size_t i = 0; i < filter.weights.size(); ++i)
        sum += filter.weights[i] * power[filter.first + i];
      energies[t * input_.mels + mel] = sum;
    }
  }
  Scale(input_.scale, input_.mels, &energies);
  return {energies.begin(), energies.end()};
}

}  // namespace attend
