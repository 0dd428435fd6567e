// Shows a test in another language what attend makes of sound. Numbers are f32 in the machine's
// order, after a line of text.
//   sound_probe read FILE...                   of each "RATE COUNT" and samples, or why not
//   sound_probe resample FILE RATE             the same at another rate
//   sound_probe wav FILE OUTPUT                writes a WAV file
//   sound_probe frames FILE [JSON]             "FRAMES MELS" and numbers, by FrameInput
//   sound_probe cut FILE [JSON]                a line "BEGIN END" a segment, by SilenceOptions
//   sound_probe digits SEED OUTPUT DIGIT...    writes a WAV file of tones
//   sound_probe drawn SEED OUTPUT DIGIT        writes a PNG file
#include <fmt/format.h>

#include <iostream>

#include "attend/error.h"
#include "base/files.h"
#include "base/json.h"
#include "media/log_mel.h"
#include "media/made_digits.h"
#include "media/picture_codec.h"
#include "media/silence.h"
#include "media/sound.h"

namespace {

using attend::Sound;

void WriteNumbers(int64_t first, int64_t second, const std::vector<float>& numbers) {
  std::cout << fmt::format("{} {}\n", first, second);
  std::cout.write(reinterpret_cast<const char*>(numbers.data()), 4 * std::ssize(numbers));
}

void Write(const Sound& sound) {
  WriteNumbers(sound.rate, std::ssize(sound.samples), sound.samples);
}

attend::SilenceOptions SilenceOptionsOf(const std::vector<std::string>& arguments) {
  const attend::Json given =
      attend::ParseJson(arguments.size() > 1 ? arguments[1] : "{}", "options");
  attend::SilenceOptions options;
  for (const auto& [name, number] : {std::pair{"max_seconds", &options.max_seconds},
                                     {"min_silence", &options.min_silence},
                                     {"threshold", &options.threshold},
                                     {"margin", &options.margin}})
    *number = given.value(name, *number);
  return options;
}

attend::FrameInput FrameInputOf(const std::vector<std::string>& arguments) {
  const attend::Json given = attend::ParseJson(arguments.size() > 1 ? arguments[1] : "{}", "input");
  attend::FrameInput input;
  for (const auto& [name, number] : {std::pair{"rate", &input.rate},
                                     {"fft", &input.fft},
                                     {"hop", &input.hop},
                                     {"mels", &input.mels}})
    *number = given.value(name, *number);
  for (const auto& [name, number] : {std::pair{"low", &input.low}, {"high", &input.high}})
    *number = given.value(name, *number);
  const std::string scale = given.value("scale", "whisper");
  if (scale == "recording") input.scale = attend::FrameScale::kRecording;
  if (scale == "bands") input.scale = attend::FrameScale::kBands;
  return input;
}

void Run(const std::string& what, const std::vector<std::string>& arguments) {
  if (what == "read") {
    for (const std::string& path : arguments) {
      try {
        Write(attend::ReadSound(path));
      } catch (const attend::Error& error) {
        std::cout << error.what() << '\n';
      }
    }
  } else if (what == "digits" || what == "drawn") {
    attend::Random random({std::stoull(arguments.at(0))});
    std::vector<int64_t> digits;
    for (size_t i = 2; i < arguments.size(); ++i) digits.push_back(std::stoll(arguments[i]));
    const std::string bytes = what == "digits"
                                  ? EncodeWav(attend::SoundDigits(digits, 16000, &random))
                                  : EncodePng(attend::DrawDigit(digits.at(0), &random));
    attend::WriteFileAtomically(arguments.at(1), bytes);
  } else {
    const Sound sound = attend::ReadSound(arguments.at(0));
    if (what == "resample") {
      Write(Resample(sound, std::stoll(arguments.at(1))));
    } else if (what == "wav") {
      attend::WriteFileAtomically(arguments.at(1), EncodeWav(sound));
    } else if (what == "frames") {
      const attend::FrameInput input = FrameInputOf(arguments);
      WriteNumbers(input.FramesOf(std::ssize(sound.samples)), input.mels,
                   attend::LogMel(input).Frames(sound.samples));
    } else if (what == "cut") {
      for (const auto& [begin, end] :
           CutAtSilence(sound.samples, sound.rate, SilenceOptionsOf(arguments)))
        std::cout << fmt::format("{} {}\n", begin, end);
    } else {
      throw std::runtime_error("unknown word " + what);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Run(argc > 1 ? argv[1] : "", {argv + std::min(argc, 2), argv + argc});
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
