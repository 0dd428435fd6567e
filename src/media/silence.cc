#include "media/silence.h"

#include <algorithm>
#include <cmath>

namespace attend {
namespace {

constexpr double kStep = 0.01;  // seconds whose energy is looked at together

// Steps [begin, end).
struct Steps {
  int64_t begin = 0, end = 0;
};

std::vector<double> MeanSquares(std::span<const float> samples, int64_t step) {
  std::vector<double> energies;
  for (size_t begin = 0; begin < samples.size(); begin += step) {
    const auto part = samples.subspan(begin, std::min<size_t>(step, samples.size() - begin));
    double sum = 0;
    for (const float sample : part) sum += static_cast<double>(sample) * sample;
    energies.push_back(sum / static_cast<double>(part.size()));
  }
  return energies;
}

double LoudestOf(std::vector<double> energies) {
  const auto place = energies.begin() + static_cast<int64_t>(energies.size() * 99 / 100);
  std::ranges::nth_element(energies, place);
  return *place;
}

// What is louder than `threshold`, with gaps of less than `min_gap` steps closed.
std::vector<Steps> LoudParts(const std::vector<double>& energies, double threshold,
                             int64_t min_gap) {
  std::vector<Steps> parts;
  for (int64_t i = 0; i < std::ssize(energies); ++i) {
    if (energies[i] <= threshold) continue;
    if (!parts.empty() && i - parts.back().end < min_gap) {
      parts.back().end = i + 1;
    } else {
      parts.push_back({i, i + 1});
    }
  }
  return parts;
}

// Each part with `margin` steps around it, or half the gap to the next.
void Widen(int64_t margin, int64_t steps, std::vector<Steps>* parts) {
  int64_t before = 0;  // where the part before it ended without its margin, or the middle
  for (size_t i = 0; i < parts->size(); ++i) {
    Steps& part = (*parts)[i];
    const int64_t end = part.end;
    const int64_t next = i + 1 < parts->size() ? (end + (*parts)[i + 1].begin) / 2 : steps;
    part.begin = std::max(before, part.begin - margin);
    part.end = std::min(next, end + margin);
    before = next;
  }
}

// The parts in pieces of at most `most` steps, each cut at the quietest step of the second half.
std::vector<Steps> Divide(const std::vector<Steps>& parts, const std::vector<double>& energies,
                          int64_t most) {
  std::vector<Steps> pieces;
  for (Steps rest : parts) {
    while (rest.end - rest.begin > most) {
      const auto from = energies.begin() + rest.begin + std::max<int64_t>(1, most / 2);
      const auto cut = std::min_element(from, energies.begin() + rest.begin + most);
      pieces.push_back({rest.begin, cut - energies.begin()});
      rest.begin = cut - energies.begin();
    }
    pieces.push_back(rest);
  }
  return pieces;
}

}  // namespace

std::vector<SoundSegment> CutAtSilence(std::span<const float> samples, int64_t rate,
                                       const SilenceOptions& options) {
  if (samples.empty()) return {};
  const auto step = std::max<int64_t>(1, std::llround(kStep * static_cast<double>(rate)));
  const double steps_a_second = static_cast<double>(rate) / static_cast<double>(step);
  const auto in_steps = [&](double seconds) {
    return static_cast<int64_t>(seconds * steps_a_second);
  };
  const std::vector<double> energies = MeanSquares(samples, step);
  const double threshold = LoudestOf(energies) * std::pow(10, options.threshold / 10);
  std::vector<Steps> parts =
      LoudParts(energies, threshold, std::max<int64_t>(1, in_steps(options.min_silence)));
  Widen(in_steps(options.margin), std::ssize(energies), &parts);
  const int64_t most = std::max<int64_t>(1, in_steps(options.max_seconds));
  std::vector<SoundSegment> segments;
  for (const Steps& piece : Divide(parts, energies, most)) {
    const SoundSegment next{piece.begin * step,
                            std::min(piece.end * step, static_cast<int64_t>(samples.size()))};
    if (!segments.empty() && next.end - segments.back().begin <= most * step) {
      segments.back().end = next.end;
    } else {
      segments.push_back(next);
    }
  }
  return segments;
}

}  // namespace attend
