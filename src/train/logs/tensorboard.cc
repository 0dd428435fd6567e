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

std::string Scalars(const std::vector<std::pair<std::string, float>>& scalars) {
  std::string values;
  for (const auto& [tag, value] : scalars)
    values += Counted(kSummaryValue, Counted(kTag, tag) + kSimpleValue + Bytes(value));
  return values;
}

// A value of a summary for the plugin "hparams", whose data (HParamsPluginData, version 0) has one
// field. It needs a tensor: an empty one of floats.
std::string ForHparams(const std::string& tag, char field, const std::string& content) {
  constexpr char kMetadata = 9 << 3 | 2, kPluginData = 1 << 3 | 2, kPluginName = 1 << 3 | 2,
                 kContent = 2 << 3 | 2;
  constexpr char kTensor = 8 << 3 | 2, kType = 1 << 3 | 0, kShape = 2 << 3 | 2,
                 kDimension = 2 << 3 | 2, kFloat = 1;
  const std::string plugin =
      Counted(kPluginName, "hparams") + Counted(kContent, Counted(field, content));
  const std::string tensor =
      std::string{kType, kFloat} + Counted(kShape, Counted(kDimension, /*size 0*/ ""));
  return Counted(kSummaryValue, Counted(kTag, tag) +
                                    Counted(kMetadata, Counted(kPluginData, plugin)) +
                                    Counted(kTensor, tensor));
}

// google.protobuf.Value; lists as JSON.
std::string ValueOf(const Json& value) {
  constexpr char kNumber = 2 << 3 | 1, kText = 3 << 3 | 2, kBoolean = 4 << 3 | 0;
  if (value.is_boolean()) return {kBoolean, static_cast<char>(value.get<bool>())};
  if (value.is_number()) return kNumber + Bytes(value.get<double>());
  return Counted(kText, value.is_string() ? value.get<std::string>() : Dump(value));
}

// Entries of SessionStartInfo's map of hyperparameters: "encoder.layers". What is not set is left
// out.
std::string HparamEntries(const Json& options, const std::string& prefix) {
  constexpr char kHparams = 1 << 3 | 2, kKey = 1 << 3 | 2, kValue = 2 << 3 | 2;
  std::string entries;
  for (const auto& [name, value] : options.items()) {
    if (value.is_object()) {
      entries += HparamEntries(value, prefix + name + ".");
    } else if (value.is_string() ? !value.get_ref<const std::string&>().empty() : !value.empty()) {
      entries += Counted(kHparams, Counted(kKey, prefix + name) + Counted(kValue, ValueOf(value)));
    }
  }
  return entries;
}

std::string SessionStart(const Json& options, double wall_time) {
  constexpr char kStartInfo = 3 << 3 | 2, kStartTime = 5 << 3 | 1;
  return ForHparams("_hparams_/session_start_info", kStartInfo,
                    HparamEntries(options, "") + kStartTime + Bytes(wall_time));
}

constexpr std::string_view kSessionEnd = "_hparams_/session_end_info";

std::string SessionEnd(double wall_time) {
  constexpr char kEndInfo = 4 << 3 | 2, kStatus = 1 << 3 | 0, kSuccess = 1, kEndTime = 2 << 3 | 1;
  return ForHparams(std::string(kSessionEnd), kEndInfo,
                    std::string{kStatus, kSuccess} + kEndTime + Bytes(wall_time));
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

// Bytes of the whole, sound records up to `last_update` and before what Finish wrote.
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
    if (!step || *step > last_update || event.find(kSessionEnd) != std::string::npos ||
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
                                     double wall_time, const Json& options)
    : file_(EventFile(directory), SizeUpTo(EventFile(directory), last_update)) {
  if (fs::file_size(EventFile(directory)) == 0) {
    file_.Append(Record(EventStart(wall_time, 0) + Counted(kFileVersion, "brain.Event:2")));
    file_.Append(
        Record(EventStart(wall_time, 0) + Counted(kSummary, SessionStart(options, wall_time))));
  }
}

void TensorBoardWriter::Append(int64_t update, double wall_time,
                               const std::vector<std::pair<std::string, float>>& scalars) {
  file_.Append(Record(EventStart(wall_time, update) + Counted(kSummary, Scalars(scalars))));
}

void TensorBoardWriter::Finish(int64_t update, double wall_time,
                               const std::vector<std::pair<std::string, float>>& scalars) {
  file_.Append(Record(EventStart(wall_time, update) +
                      Counted(kSummary, Scalars(scalars) + SessionEnd(wall_time))));
}

}  // namespace attend
