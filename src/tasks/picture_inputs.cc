#include "tasks/picture_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "media/fit_picture.h"
#include "media/patch_numbers.h"

namespace attend {
namespace {

// Whose numbers are in memory at once.
constexpr size_t kPicturesTogether = 256;

}  // namespace

void CheckReads(const ModelConfig& config, bool pictures) {
  if (config.patches.has_value() == pictures) return;
  throw Error(ErrorKind::kUsage, pictures ? "the model reads text, expected one of pictures"
                                          : "the model reads pictures, expected one of text");
}

std::vector<std::vector<uint8_t>> PixelsOfFiles(std::span<const std::string> files,
                                                std::span<const std::string> names,
                                                const PatchInput& input) {
  std::vector<std::vector<uint8_t>> pictures;
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string name = i < names.size() ? names[i] : fmt::format("picture {}", i + 1);
    pictures.push_back(DecodeFitted(files[i], name, input).pixels);
  }
  return pictures;
}

void ForPictures(
    std::span<const std::vector<uint8_t>> pictures, const PatchInput& input,
    const std::function<void(std::span<const EncoderInput> inputs, size_t first)>& run) {
  const PatchNumbers numbers(input);
  for (size_t first = 0; first < pictures.size(); first += kPicturesTogether) {
    std::vector<EncoderInput> inputs;
    for (const std::vector<uint8_t>& pixels :
         pictures.subspan(first, std::min(kPicturesTogether, pictures.size() - first)))
      inputs.push_back({{}, {}, numbers.Of(pixels)});
    run(inputs, first);
  }
}

}  // namespace attend
