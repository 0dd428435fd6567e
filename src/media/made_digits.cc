#include "media/made_digits.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

namespace attend {
namespace {

constexpr int64_t kSide = 28;

struct Point {
  double x = 0, y = 0;  // from 0 to 1, from the upper left corner
};
using Strokes = std::vector<std::vector<Point>>;

// Each digit's lines, of points that stand as hundredths: across, then down. Lines are parted by /.
constexpr std::string_view kDigitLines[] = {
    "5010 3018 2050 3082 5090 7082 8050 7018 5010",
    "3628 5510 5590",
    "2230 3413 5510 7420 7438 5062 2290 8090",
    "2420 4210 6614 7330 6044 4248/4248 6653 7770 6687 4290 2280",
    "6290 6210 2065 8265",
    "7510 3210 2745 5040 7048 7866 6685 4490 2282",
    "6610 4028 2560 3082 5090 7082 7464 6050 4252 2764",
    "2010 8010 5845 4290",
    "5047 3038 2820 5010 7220 7038 5047 2560 2480 5090 7680 7560 5047",
    "7434 5848 3848 2634 3415 5410 7220 7434 7062 5690",
};

Strokes StrokesOf(int64_t digit) {
  const std::string_view lines = kDigitLines[digit];
  const auto number = [&](size_t at) {
    return 0.1 * (lines[at] - '0') + 0.01 * (lines[at + 1] - '0');
  };
  Strokes strokes(1);
  for (size_t at = 0; at < lines.size(); at += 5) {
    strokes.back().push_back({number(at), number(at + 2)});
    if (at + 4 < lines.size() && lines[at + 4] == '/') strokes.emplace_back();
  }
  return strokes;
}

double DrawBetween(double low, double high, Random* random) {
  return low + (high - low) * random->Uniform();
}

// The strokes as one hand writes them once, in pixels.
Strokes WriteByHand(Strokes strokes, Random* random) {
  const double slant = DrawBetween(-0.35, 0.35, random), turn = DrawBetween(-0.15, 0.15, random);
  const double width = DrawBetween(14, 22, random), height = DrawBetween(18, 23, random);
  const double right = DrawBetween(-2, 2, random), down = DrawBetween(-2, 2, random);
  for (auto& stroke : strokes) {
    for (Point& point : stroke) {
      double x = (point.x - 0.5 + 0.025 * random->Normal()) * width;
      const double y = (point.y - 0.5 + 0.025 * random->Normal()) * height;
      x -= slant * y;
      point = {0.5 * kSide + right + x * std::cos(turn) - y * std::sin(turn),
               0.5 * kSide + down + x * std::sin(turn) + y * std::cos(turn)};
    }
  }
  return strokes;
}

// Of a point to the line between two others.
double Distance(const Point& point, const Point& from, const Point& to) {
  const double dx = to.x - from.x, dy = to.y - from.y;
  const double length = dx * dx + dy * dy;
  double along = 0;
  if (length > 0) along = ((point.x - from.x) * dx + (point.y - from.y) * dy) / length;
  along = std::clamp(along, 0.0, 1.0);
  return std::hypot(point.x - from.x - along * dx, point.y - from.y - along * dy);
}

double DistanceToStrokes(const Point& point, const Strokes& strokes) {
  double nearest = kSide;
  for (const auto& stroke : strokes) {
    for (size_t i = 0; i + 1 < stroke.size(); ++i)
      nearest = std::min(nearest, Distance(point, stroke[i], stroke[i + 1]));
  }
  return nearest;
}

// Adds both tones of a key to the end of a sound.
void AddTones(int64_t digit, Random* random, Sound* sound) {
  constexpr double kRows[] = {697, 770, 852, 941}, kColumns[] = {1209, 1336, 1477};  // Hz
  constexpr double kFade = 0.005;                                                    // seconds
  const int64_t key = digit == 0 ? 10 : digit - 1;  // 0 stands below 8
  const double pitch = DrawBetween(0.97, 1.03, random), loudness = DrawBetween(0.1, 0.4, random);
  const double low = kRows[key / 3] * pitch, high = kColumns[key % 3] * pitch;
  const double seconds = DrawBetween(0.12, 0.25, random);
  const auto rate = static_cast<double>(sound->rate);
  const auto count = static_cast<int64_t>(seconds * rate);
  for (int64_t i = 0; i < count; ++i) {
    const double time = static_cast<double>(i) / rate, turn = 2 * std::numbers::pi * time;
    const double fade = std::min({1.0, time / kFade, (seconds - time) / kFade});
    const double tone = std::sin(low * turn) + std::sin(high * turn);
    sound->samples.push_back(static_cast<float>(fade * loudness * tone));
  }
}

void AddPause(Random* random, Sound* sound) {
  const double seconds = DrawBetween(0.04, 0.12, random);
  const auto count = static_cast<size_t>(seconds * static_cast<double>(sound->rate));
  sound->samples.resize(sound->samples.size() + count);
}

}  // namespace

Picture DrawDigit(int64_t digit, Random* random) {
  const Strokes strokes = WriteByHand(StrokesOf(digit), random);
  const double radius = DrawBetween(0.7, 1.7, random);  // of the pen, in pixels
  const double noise = DrawBetween(0, 20, random);
  Picture picture(kSide, kSide, 1);
  for (int64_t y = 0; y < kSide; ++y) {
    for (int64_t x = 0; x < kSide; ++x) {
      const Point centre{static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5};
      const double ink = std::clamp(0.5 + radius - DistanceToStrokes(centre, strokes), 0.0, 1.0);
      const double value = 255 * ink + noise * random->Normal();
      picture.row(y)[x] = static_cast<uint8_t>(std::clamp(value, 0.0, 255.0));
    }
  }
  return picture;
}

Sound SoundDigits(std::span<const int64_t> digits, int64_t rate, Random* random) {
  Sound sound{rate, {}};
  AddPause(random, &sound);
  for (const int64_t digit : digits) {
    AddTones(digit, random, &sound);
    AddPause(random, &sound);
  }
  const double noise = DrawBetween(0.001, 0.03, random);
  for (float& sample : sound.samples)
    sample = static_cast<float>(std::clamp(sample + noise * random->Normal(), -1.0, 1.0));
  return sound;
}

}  // namespace attend
