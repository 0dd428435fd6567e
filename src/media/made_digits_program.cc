// Writes the data that the demo's models of pictures and of sound learn from.
//   made_digits pictures FOLDER COUNT   COUNT drawn digits as an IDX file with its labels (as
//                                       MNIST has them), and one of each that is not among them,
//                                       0.png to 9.png
//   made_digits sounds FOLDER COUNT     COUNT recordings of one to three digits with a table of
//                                       their names and texts, train.tsv, and 50 that are not
//                                       among them, with valid.tsv
#include <fmt/ranges.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "attend/error.h"
#include "base/files.h"
#include "media/made_digits.h"
#include "media/picture_codec.h"
#include "media/sound.h"

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

void WriteSounds(const fs::path& folder, const std::string& part, int64_t count, uint64_t seed) {
  constexpr int64_t kRate = 8000, kMostDigits = 3;
  fs::create_directories(folder / part);
  Random random({seed});
  std::string table;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> digits;
    for (int64_t d = 0; d <= i % kMostDigits; ++d)
      digits.push_back(static_cast<int64_t>(random.Below(kDigits)));
    const std::string path = fmt::format("{}/{}.wav", part, i);
    attend::WriteFileAtomically(folder / path,
                                EncodeWav(attend::SoundDigits(digits, kRate, &random)));
    table += fmt::format("{}\t{}\n", path, fmt::join(digits, " "));
  }
  attend::WriteFileAtomically(folder / (part + ".tsv"), table);
}

}  // namespace

int main(int argc, char** argv) {
  int64_t count = 0;
  const std::string_view text = argc == 4 ? argv[3] : "";
  const std::string_view what = argc == 4 ? argv[1] : "";
  const bool number =
      std::from_chars(text.data(), text.data() + text.size(), count).ec == std::errc();
  if (!number || count < 1 || (what != "pictures" && what != "sounds")) {
    std::cerr << "usage: made_digits pictures|sounds FOLDER COUNT\n";
    return 2;
  }
  try {
    if (what == "pictures") {
      WritePictures(argv[2], count);
    } else {
      WriteSounds(argv[2], "train", count, 1);
      WriteSounds(argv[2], "valid", 50, 2);
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
