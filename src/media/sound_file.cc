#include <fmt/format.h>
#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/files.h"
#include "media/sound.h"

namespace attend {
namespace {

constexpr int64_t kMinRate = 100, kMaxRate = 1000000;
constexpr int64_t kPieceValues = 1 << 16;

[[noreturn]] void RefuseSound(const std::string& name, const std::string& why) {
  throw Error(ErrorKind::kInput, fmt::format("'{}' {}", name, why));
}

// libsndfile reads more. MP3's library writes to standard error, libsndfile 1.2 loses memory with
// each Ogg Vorbis file, files of formats such as CAF may be cut short in silence, and nobody needs
// old formats for speech. Those stay shut.
bool IsKnownFormat(std::string_view bytes) {
  constexpr std::string_view kBeginnings[] = {"RIFF", "fLaC", "FORM", ".snd"};
  constexpr size_t kFirstPacket = 28;  // of an Ogg page with one segment
  if (bytes.starts_with("OggS"))
    return bytes.size() > kFirstPacket && bytes.substr(kFirstPacket).starts_with("OpusHead");
  return std::ranges::any_of(
      kBeginnings, [&](std::string_view beginning) { return bytes.starts_with(beginning); });
}

// Bytes in memory, as libsndfile reads them.
struct ByteStream {
  std::string_view bytes;
  sf_count_t at = 0;
};

sf_count_t StreamLength(void* stream) {
  return std::ssize(static_cast<ByteStream*>(stream)->bytes);
}

sf_count_t SeekStream(sf_count_t offset, int whence, void* stream) {
  auto* self = static_cast<ByteStream*>(stream);
  const sf_count_t size = std::ssize(self->bytes);
  sf_count_t from = 0;
  if (whence == SEEK_CUR) from = self->at;
  if (whence == SEEK_END) from = size;
  if (offset < -from || offset > size - from) return -1;
  return self->at = from + offset;
}

sf_count_t ReadStream(void* to, sf_count_t size, void* stream) {
  auto* self = static_cast<ByteStream*>(stream);
  size = std::clamp<sf_count_t>(size, 0, std::ssize(self->bytes) - self->at);
  if (size > 0) std::memcpy(to, self->bytes.data() + self->at, static_cast<size_t>(size));
  self->at += size;
  return size;
}

sf_count_t WriteNothing(const void*, sf_count_t, void*) { return 0; }

sf_count_t TellStream(void* stream) { return static_cast<ByteStream*>(stream)->at; }

[[noreturn]] void RefuseCut(const std::string& name, const char* format, uint64_t there,
                            uint64_t expected) {
  RefuseSound(name, fmt::format("is {} file that is cut short: it has {} bytes of sound, expected "
                                "{}",
                                format, there, expected));
}

void CheckWavLength(std::string_view bytes, const std::string& name) {
  const auto number = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = 4; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
    return value;
  };
  constexpr uint32_t kUnknown = 0xFFFFFFFF - (1 << 16);  // programs that write to a pipe say so
  for (size_t at = 12; at + 8 <= bytes.size();) {
    const size_t size = number(at + 4), there = bytes.size() - at - 8;
    if (bytes.substr(at, 4) == "data") {
      if (size > there && size < kUnknown && size != 0x7FFFFFFF)
        RefuseCut(name, "a WAV", there, size);
      return;
    }
    if (size > there) return;
    at += 8 + size + size % 2;
  }
}

// Their numbers are big-endian, and the header has the length.
void CheckLengthAhead(std::string_view bytes, const std::string& name, bool aiff) {
  constexpr size_t kHeader = 12;
  if (bytes.size() < kHeader) return;
  const auto number = [&](size_t at) {
    uint64_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
    return value;
  };
  // AIFF tells the bytes of its one chunk; AU where sound begins, and its bytes.
  const uint64_t begin = aiff ? 8 : number(4), size = number(aiff ? 4 : 8);
  constexpr uint64_t kUnknown = 0xFFFFFFFF;
  if (size != kUnknown && begin + size > bytes.size())
    RefuseCut(name, aiff ? "an AIFF" : "an AU",
              bytes.size() - std::min<uint64_t>(begin, bytes.size()), size);
}

// A file whose sound is shorter than its header says, which libsndfile takes in silence.
void CheckLength(std::string_view bytes, const std::string& name) {
  if (bytes.starts_with("RIFF")) CheckWavLength(bytes, name);
  if (bytes.starts_with("FORM")) CheckLengthAhead(bytes, name, /*aiff=*/true);
  if (bytes.starts_with(".snd")) CheckLengthAhead(bytes, name, /*aiff=*/false);
}

class SoundReader {
 public:
  SoundReader(std::string_view bytes, const std::string& name) : stream_{bytes}, name_(name) {
    SF_VIRTUAL_IO io = {StreamLength, SeekStream, ReadStream, WriteNothing, TellStream};
    file_.reset(sf_open_virtual(&io, SFM_READ, &info_, &stream_));
    // sf_strerror(nullptr) may tell what another thread met.
    if (file_ == nullptr) Refuse("its header makes no sense, or its encoding is not known");
  }

  double HeaderSeconds() const {
    return static_cast<double>(info_.frames) / static_cast<double>(std::max(info_.samplerate, 1));
  }

  Sound Decode(const SoundLimits& limits) {
    CheckHeader(limits);
    Sound sound;
    sound.rate = info_.samplerate;
    const int64_t most = MaxFrames(limits),
                  at_once = std::max<int64_t>(1, kPieceValues / info_.channels);
    std::vector<float> piece(at_once * info_.channels);
    while (const int64_t got = sf_readf_float(file_.get(), piece.data(), at_once)) {
      if (std::ssize(sound.samples) + got > most) RefuseLength(limits);
      AddMeans(std::span(piece).first(got * info_.channels), &sound.samples);
    }
    if (sf_error(file_.get()) != SF_ERR_NO_ERROR) Refuse(sf_strerror(file_.get()));
    const int64_t found = std::ssize(sound.samples);
    if (info_.frames > found && info_.frames < SF_COUNT_MAX)
      Refuse(fmt::format("it has {} samples, expected {}", found, info_.frames));
    if (found == 0) RefuseSound(name_, "holds no sound");
    return sound;
  }

 private:
  struct Close {
    void operator()(SNDFILE* file) const { sf_close(file); }
  };

  [[noreturn]] void Refuse(const std::string& why) const {
    RefuseSound(name_, fmt::format("is a damaged sound file: {}", Excerpt(why)));
  }

  int64_t MaxFrames(const SoundLimits& limits) const {
    return static_cast<int64_t>(
        std::min(static_cast<double>(limits.max_samples), limits.max_seconds * info_.samplerate));
  }

  [[noreturn]] void RefuseLength(const SoundLimits& limits) const {
    RefuseSound(
        name_,
        fmt::format("is longer than {:.0f} s, the longest that is read at {} samples "
                    "a second; cut it into parts",
                    static_cast<double>(MaxFrames(limits)) / info_.samplerate, info_.samplerate));
  }

  void CheckHeader(const SoundLimits& limits) const {
    if (info_.samplerate < kMinRate || info_.samplerate > kMaxRate) {
      RefuseSound(name_, fmt::format("has {} samples a second, expected {} to {}", info_.samplerate,
                                     kMinRate, kMaxRate));
    }
    if (info_.channels < 1) Refuse("no channel");
    // An unknown length is told as the largest number.
    if (info_.frames < SF_COUNT_MAX && info_.frames > MaxFrames(limits)) RefuseLength(limits);
  }

  void AddMeans(std::span<const float> frames, std::vector<float>* samples) const {
    const auto channels = static_cast<float>(info_.channels);
    for (size_t i = 0; i < frames.size(); i += info_.channels) {
      float sum = 0;
      for (int c = 0; c < info_.channels; ++c) sum += frames[i + c];
      samples->push_back(sum / channels);
      if (!IsSample(samples->back())) {
        RefuseSound(name_, fmt::format("has a number that is no sound (NaN, or above {}) at sample "
                                       "{}",
                                       kLoudest, samples->size() - 1));
      }
    }
  }

  ByteStream stream_;
  const std::string& name_;
  SF_INFO info_ = {};
  std::unique_ptr<SNDFILE, Close> file_;
};

void AppendLittleEndian(uint64_t number, int bytes, std::string* to) {
  for (; bytes > 0; --bytes, number >>= 8) to->push_back(static_cast<char>(number));
}

}  // namespace

Sound DecodeSound(std::string_view bytes, const std::string& name, const SoundLimits& limits) {
  if (bytes.size() > limits.max_bytes)
    RefuseSound(name,
                fmt::format("has {} bytes, expected at most {}", bytes.size(), limits.max_bytes));
  if (!IsKnownFormat(bytes)) {
    RefuseSound(name,
                bytes.empty()
                    ? "is empty, expected a sound file such as WAV or FLAC"
                    : fmt::format("begins with '{}', expected WAV, FLAC, Opus in Ogg, AIFF or AU; "
                                  "convert it by a program such as ffmpeg",
                                  Excerpt(bytes.substr(0, 8))));
  }
  CheckLength(bytes, name);
  return SoundReader(bytes, name).Decode(limits);
}

Sound ReadSound(const std::filesystem::path& path, const SoundLimits& limits) {
  return DecodeSound(MappedFile::Open(path)->text(), path.string(), limits);
}

double SecondsOfFile(const std::filesystem::path& path) {
  try {
    const auto file = MappedFile::Open(path);
    if (!IsKnownFormat(file->text())) return 0;
    return SoundReader(file->text(), path.string()).HeaderSeconds();
  } catch (const Error&) {
    return 0;
  }
}

std::string EncodeWav(const Sound& sound) {
  const uint64_t bytes = 2 * sound.samples.size(), rate = static_cast<uint64_t>(sound.rate);
  std::string wav = "RIFF";
  AppendLittleEndian(36 + bytes, 4, &wav);
  wav += "WAVEfmt ";
  AppendLittleEndian(16, 4, &wav);  // of what follows up to "data"
  AppendLittleEndian(1, 2, &wav);   // whole numbers
  AppendLittleEndian(1, 2, &wav);   // channel
  AppendLittleEndian(rate, 4, &wav);
  AppendLittleEndian(2 * rate, 4, &wav);  // bytes a second
  AppendLittleEndian(2, 2, &wav);         // bytes a sample of all channels
  AppendLittleEndian(16, 2, &wav);        // bits
  wav += "data";
  AppendLittleEndian(bytes, 4, &wav);
  for (const float sample : sound.samples) {
    const auto value = std::lrint(std::clamp(sample * 32768.0f, -32768.0f, 32767.0f));
    AppendLittleEndian(static_cast<uint64_t>(value), 2, &wav);
  }
  return wav;
}

}  // namespace attend
