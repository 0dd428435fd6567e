// Protocol buffers' wire format, as much as it takes to find the fields of a SentencePiece model
// and to write one.
#ifndef ATTEND_TEXT_PROTO_FIELDS_H_
#define ATTEND_TEXT_PROTO_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attend {

// Throws Error(kInput): not a SentencePiece model.
[[noreturn]] void DamagedModel(const std::string& where, const char* what);

uint64_t ReadVarint(std::string_view* bytes, const std::string& where);

// One field of a message.
struct ProtoPart {
  uint64_t number = 0;
  uint64_t wire_type = 0;    // 0: a number; 2: content with its length
  uint64_t value = 0;        // of a number
  std::string_view content;  // of other fields
};

// Takes the first field off a message. Throws Error(kInput) for a damaged one; `where` opens the
// error's text.
ProtoPart TakeField(std::string_view* message, const std::string& where);

// Calls use(content) for each field `number` that has content with its length.
template <class Use>
void ForEachField(std::string_view message, uint64_t number, const std::string& where,
                  const Use& use) {
  while (!message.empty()) {
    const ProtoPart field = TakeField(&message, where);
    if (field.wire_type == 2 && field.number == number) use(field.content);
  }
}

// The last number in field `number` of a message; none where it has none.
std::optional<uint64_t> NumberField(std::string_view message, uint64_t number,
                                    const std::string& where);

std::string ProtoField(uint64_t number, std::string_view content);
std::string ProtoField(uint64_t number, uint64_t value);

}  // namespace attend

#endif  // ATTEND_TEXT_PROTO_FIELDS_H_
