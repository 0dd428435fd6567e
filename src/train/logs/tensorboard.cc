#include "train/logs/tensorboard.h"

#include <boost/crc.hpp>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/files.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

// Protocol buffers: a field's key is its number times 8 plus its wire type (0 varint, 1 eight
// bytes, 2 counted, 5 four bytes).
constexpr char kWallTime = 1 << 3 | 1, kStep = 2 << 3 | 0, kFileVersion = 3 << 3 | 2,
               kSummary = 5 << 3 | 2;
constexpr char kSummaryValue = 1 << 3 | 2, kTag = 1 << 3 | 2, kSimpleValue = 2 << 3 | 5;

template <class Value>
std::string Bytes(Value value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

std::string Counted(char key, const std::string& content) {
  return key + Varint(content.size()) + content;
}

uint32_t MaskedCrc(std::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  const uint32_t sum = crc.checksum();
  return ((sum >> 15) | (sum << 17)) + 0xa282ead8u;
}

std::string Record(const std::string& event) {
  const std::string length = Bytes<uint64_t>(event.size());
  return length + Bytes(MaskedCrc(length)) + event + Bytes(MaskedCrc(event));
}

std::string EventStart(double wall_time, int64_t step) {
  return kWallTime + Bytes(wall_time) + kStep + Varint(static_cast<uint64_t>(step));
}

// The step of an event that EventStart began.
std::optional<int64_t> StepOf(std::string_view event) {
  constexpr size_t kStepOffset = 1 + sizeof(double) + 1;
  if (event.size() <= kStepOffset || event[0] != kWallTime || event[kStepOffset - 1] != kStep)
    return std::nullopt;
  uint64_t step = 0;
  for (size_t i = kStepOffset, shift = 0; i < event.size() && shift < 64; ++i, shift += 7) {
    step |= static_cast<uint64_t>(event[i] & 0x7f) << shift;
    if ((event[i] & 0x80) == 0) return static_cast<int64_t>(step);
  }
  return std::nullopt;
}

// Bytes of the whole, sound records up to `last_update`.
size_t SizeUpTo(const fs::path& path, int64_t last_update) {
  constexpr size_t kHeader = sizeof(uint64_t) + sizeof(uint32_t), kFooter = sizeof(uint32_t);
  if (!fs::exists(path)) return 0;
  const std::string bytes = ReadFile(path);
  size_t size = 0;
  while (bytes.size() - size > kHeader + kFooter) {
    uint64_t length;
    std::memcpy(&length, bytes.data() + size, sizeof length);
    if (length > bytes.size() - size - kHeader - kFooter) break;
    const std::string event = bytes.substr(size + kHeader, length);
    const std::optional<int64_t> step = StepOf(event);
    if (!step || *step > last_update ||
        bytes.compare(size, Record(event).size(), Record(event)) != 0)
      break;
    size += kHeader + length + kFooter;
  }
  return size;
}

fs::path EventFile(const fs::path& directory) {
  fs::create_directories(directory);
  return directory / "events.out.tfevents.attend";
}

}  // namespace

TensorBoardWriter::TensorBoardWriter(const fs::path& directory, int64_t last_update,
                                     double wall_time)
    : file_(EventFile(directory), SizeUpTo(EventFile(directory), last_update)) {
  if (fs::file_size(EventFile(directory)) == 0) {
    file_.Append(Record(EventStart(wall_time, 0) + Counted(kFileVersion, "brain.Event:2")));
  }
}

void TensorBoardWriter::Append(int64_t update, double wall_time,
                               const std::vector<std::pair<std::string, float>>& scalars) {
  std::string summary;
  for (const auto& [tag, value] : scalars) {
    summary += Counted(kSummaryValue, Counted(kTag, tag) + kSimpleValue + Bytes(value));
  }
  file_.Append(Record(EventStart(wall_time, update) + Counted(kSummary, summary)));
}

}  // namespace attend
