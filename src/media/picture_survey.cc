#include "media/picture_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "attend/error.h"
#include "base/counted.h"
#include "base/first_few.h"
#include "base/sha256.h"

namespace attend {
namespace {

// Whole numbers, so that the order of adding changes nothing.
struct PixelSums {
  std::array<uint64_t, 3> sums = {}, squares = {};
  uint64_t pixels = 0;

  void Add(const Picture& picture) {
    for (size_t i = 0; i < picture.pixels.size(); ++i) {
      const uint64_t value = picture.pixels[i];
      const auto channel = static_cast<int64_t>(i) % picture.channels;
      sums[channel] += value;
      squares[channel] += value * value;
    }
    pixels += static_cast<uint64_t>(picture.width * picture.height);
  }
  void Add(const PixelSums& other) {
    for (size_t c = 0; c < sums.size(); ++c) {
      sums[c] += other.sums[c];
      squares[c] += other.squares[c];
    }
    pixels += other.pixels;
  }
};

struct Seen {
  int64_t width = 0, height = 0, channels = 0;
  std::string sha256;  // of its pixels
  std::string reason;  // empty: it was read
};

}  // namespace

PictureSurvey SurveyPictures(const PictureSet& pictures, ThreadPool* pool) {
  std::vector<PixelSums> by_worker(pool->size());
  std::vector<Seen> seen(pictures.size());
  pool->ParallelFor(pictures.size(), [&](int64_t i, int worker) {
    try {
      const Picture picture = pictures.Get(i);
      by_worker[worker].Add(picture);
      seen[i] = {
          picture.width, picture.height, picture.channels,
          Sha256({reinterpret_cast<const char*>(picture.pixels.data()), picture.pixels.size()}),
          ""};
    } catch (const Error& error) {
      seen[i].reason = error.what();
    }
  });
  PictureSurvey survey;
  PixelSums all;
  for (const PixelSums& each : by_worker) all.Add(each);
  int64_t channels = 0;
  std::string facts;
  survey.min_width = survey.min_height = INT64_MAX;
  for (int64_t i = 0; i < pictures.size(); ++i) {
    if (!seen[i].reason.empty()) {
      survey.left_out.push_back({i, std::move(seen[i].reason)});
      continue;
    }
    survey.kept.push_back(i);
    channels = seen[i].channels;
    facts += fmt::format("{} {} {} {}\n", seen[i].width, seen[i].height,
                         pictures.label_names()[pictures.label(i)], seen[i].sha256);
    survey.min_width = std::min(survey.min_width, seen[i].width);
    survey.max_width = std::max(survey.max_width, seen[i].width);
    survey.min_height = std::min(survey.min_height, seen[i].height);
    survey.max_height = std::max(survey.max_height, seen[i].height);
  }
  if (survey.kept.empty()) {
    throw Error(ErrorKind::kInput,
                fmt::format("none of the {} can be read; the first: {}",
                            Counted(pictures.size(), "picture"), survey.left_out[0].reason));
  }
  survey.sha256 = Sha256(facts);
  const auto pixels = static_cast<double>(all.pixels);
  for (int64_t c = 0; c < channels; ++c) {
    const double mean = static_cast<double>(all.sums[c]) / pixels;
    const double square = static_cast<double>(all.squares[c]) / pixels;
    survey.mean.push_back(mean / 255);
    survey.deviation.push_back(std::sqrt(std::max(0.0, square - mean * mean)) / 255);
  }
  return survey;
}

std::string LeftOutMessage(const PictureSurvey& survey) {
  return LeftOutOf(survey.left_out, &LeftOutPicture::reason,
                   std::ssize(survey.left_out) + std::ssize(survey.kept), "picture");
}

}  // namespace attend
