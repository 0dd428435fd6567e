#include "text/proto_fields.h"

#include <fmt/format.h>

#include "attend/error.h"

namespace attend {
namespace {

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7F) | 0x80);
  return bytes += static_cast<char>(value);
}

}  // namespace

void DamagedModel(const std::string& where, const char* what) {
  throw Error(ErrorKind::kInput,
              fmt::format("{}: {}; expected a SentencePiece model", where, what));
}

uint64_t ReadVarint(std::string_view* bytes, const std::string& where) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (bytes->empty()) DamagedModel(where, "the file is cut short");
    const auto byte = static_cast<uint8_t>(bytes->front());
    bytes->remove_prefix(1);
    value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  DamagedModel(where, "a number is too long");
}

ProtoPart TakeField(std::string_view* message, const std::string& where) {
  const uint64_t tag = ReadVarint(message, where);
  ProtoPart field{tag >> 3, tag & 7, 0, {}};
  uint64_t size = 0;
  switch (field.wire_type) {
    case 0:
      field.value = ReadVarint(message, where);
      break;
    case 1:
      size = 8;
      break;
    case 2:
      size = ReadVarint(message, where);
      break;
    case 5:
      size = 4;
      break;
    default:
      DamagedModel(where, "a field has an unknown type");
  }
  if (size > message->size()) DamagedModel(where, "the file is cut short");
  field.content = message->substr(0, size);
  message->remove_prefix(size);
  return field;
}

std::optional<uint64_t> NumberField(std::string_view message, uint64_t number,
                                    const std::string& where) {
  std::optional<uint64_t> value;
  while (!message.empty()) {
    const ProtoPart field = TakeField(&message, where);
    if (field.wire_type == 0 && field.number == number) value = field.value;
  }
  return value;
}

std::string ProtoField(uint64_t number, std::string_view content) {
  return Varint(number << 3 | 2) + Varint(content.size()) + std::string(content);
}

std::string ProtoField(uint64_t number, uint64_t value) {
  return Varint(number << 3) + Varint(value);
}

}  // namespace attend
