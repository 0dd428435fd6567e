// Shows a test in another language what attend makes of pictures. A raw picture is a line "WIDTH
// HEIGHT CHANNELS" and its pixels.
//   picture_probe decode CHANNELS FILE...   the raw pictures; a file that is refused: its message
//   picture_probe values MAGNITUDE WIDTH HEIGHT   ChangeValue of every change
//   picture_probe set CHANNELS PATH...   of a set: its size, labels, means, deviations, sizes, what
//   is
//                                        left out, and the number and crc32 of every 1,000th
//                                        picture
//   picture_probe change   of each line "CHANGE ARGUMENT..." and raw picture after it on standard
//                          input: the picture, changed, raw
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <iostream>
#include <sstream>

#include "attend/error.h"
#include "media/crop.h"
#include "media/picture_changes.h"
#include "media/picture_codec.h"
#include "media/picture_set.h"
#include "media/picture_survey.h"
#include "media/resize.h"

namespace {

using attend::Interpolation;
using attend::Picture;

void WriteSet(int64_t channels, const std::vector<std::string>& paths) {
  const auto set = attend::OpenPictures(paths, {.channels = channels});
  attend::ThreadPool pool(2);
  const attend::PictureSurvey survey = SurveyPictures(*set, &pool);
  std::cout << fmt::format("{}\n{}\n{}\n{}\n{} {} {} {}\n{}\n", set->size(),
                           fmt::join(set->label_names(), " "), fmt::join(survey.mean, " "),
                           fmt::join(survey.deviation, " "), survey.min_width, survey.max_width,
                           survey.min_height, survey.max_height, LeftOutMessage(survey));
  for (int64_t i = 0; i < set->size(); i += 1000) {
    const Picture picture = set->Get(i);
    std::cout << fmt::format("{} {}\n", set->label(i),
                             crc32(0, picture.pixels.data(), std::ssize(picture.pixels)));
  }
}

void Write(const Picture& picture) {
  std::cout << fmt::format("{} {} {}\n", picture.width, picture.height, picture.channels);
  std::cout.write(reinterpret_cast<const char*>(picture.pixels.data()), std::ssize(picture.pixels));
}

Picture Read() {
  int64_t width = 0, height = 0, channels = 0;
  std::cin >> width >> height >> channels;
  std::cin.get();
  Picture picture(width, height, channels);
  std::cin.read(reinterpret_cast<char*>(picture.pixels.data()), std::ssize(picture.pixels));
  if (!std::cin) throw std::runtime_error("no raw picture on standard input");
  return picture;
}

Picture Changed(const Picture& picture, std::istringstream words) {
  std::string what, interpolation;
  words >> what;
  const auto number = [&] {
    double value = 0;
    words >> value;
    return value;
  };
  const auto whole = [&] { return static_cast<int64_t>(number()); };
  const auto filter = [&] {
    words >> interpolation;
    return interpolation == "bicubic" ? Interpolation::kBicubic : Interpolation::kBilinear;
  };
  const int64_t first = what == "png" ? 0 : whole();
  if (what == "png") return attend::DecodePicture(EncodePng(picture), "picture", picture.channels);
  if (what == "channels") return ToChannels(picture, first);
  if (what == "shorter") return ResizeShorterSide(picture, first, filter());
  if (what == "change") return Change(picture, static_cast<attend::PictureChange>(first), number());
  const int64_t second = whole();
  if (what == "resize") return Resize(picture, first, second, filter());
  if (what == "centre") return CentreCrop(picture, first, second);
  throw std::runtime_error("unknown change " + what);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + std::min(argc, 2), argv + argc);
  const std::string what = argc > 1 ? argv[1] : "";
  try {
    if (what == "values") {
      for (int64_t change = 0; change < attend::kPictureChanges; ++change)
        std::cout << fmt::format(
            "{}\n",
            ChangeValue(static_cast<attend::PictureChange>(change), std::stoll(arguments.at(0)),
                        std::stoll(arguments.at(1)), std::stoll(arguments.at(2))));
      return 0;
    }
    if (what == "set") {
      WriteSet(std::stoll(arguments.at(0)), {arguments.begin() + 1, arguments.end()});
      return 0;
    }
    if (what == "change") {
      for (std::string line; std::getline(std::cin, line);)
        Write(Changed(Read(), std::istringstream(line)));
      return 0;
    }
    for (size_t i = 1; i < arguments.size(); ++i) {
      try {
        Write(attend::ReadPicture(arguments[i], std::stoll(arguments[0])));
      } catch (const attend::Error& error) {
        std::cout << error.what() << '\n';
      }
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
