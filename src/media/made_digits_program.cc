// Writes the data that the demo's models of pictures learn from.
//   made_digits pictures FOLDER COUNT   COUNT drawn digits as an IDX file with its labels (as
//                                       MNIST has them), and one of each that is not among them,
//                                       0.png to 9.png
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>

#include "attend/error.h"
#include "base/files.h"
#include "media/made_digits.h"
#include "media/picture_codec.h"

namespace {

namespace fs = std::filesystem;
using attend::Picture;
using attend::Random;

constexpr int64_t kDigits = 10;

// Of an IDX file: big-endian.
void AddNumber(uint32_t number, std::string* bytes) {
  for (int shift = 24; shift >= 0; shift -= 8) *bytes += static_cast<char>(number >> shift);
}

void WritePictures(const fs::path& folder, int64_t count) {
  fs::create_directories(folder);
  std::string pictures, labels;
  for (const uint32_t number : {0x803u, static_cast<uint32_t>(count), 28u, 28u})
    AddNumber(number, &pictures);
  for (const uint32_t number : {0x801u, static_cast<uint32_t>(count)}) AddNumber(number, &labels);
  Random random({1});
  for (int64_t i = 0; i < count; ++i) {
    const Picture picture = attend::DrawDigit(i % kDigits, &random);
    pictures.append(picture.pixels.begin(), picture.pixels.end());
    labels += static_cast<char>(i % kDigits);
  }
  attend::WriteFileAtomically(folder / "digits-images-idx3-ubyte", pictures);
  attend::WriteFileAtomically(folder / "digits-labels-idx1-ubyte", labels);
  for (int64_t digit = 0; digit < kDigits; ++digit) {
    attend::WriteFileAtomically(folder / fmt::format("{}.png", digit),
                                EncodePng(attend::DrawDigit(digit, &random)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  int64_t count = 0;
  const std::string_view text = argc == 4 ? argv[3] : "";
  const bool number =
      std::from_chars(text.data(), text.data() + text.size(), count).ec == std::errc();
  if (!number || count < 1 || std::string_view(argv[1]) != "pictures") {
    std::cerr << "usage: made_digits pictures FOLDER COUNT\n";
    return 2;
  }
  try {
    WritePictures(argv[2], count);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
