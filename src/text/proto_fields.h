// Protocol buffers' wire format, as much as it takes to find the fields of a SentencePiece model
// and to write one.
#ifndef ATTEND_TEXT_PROTO_FIELDS_H_
#define ATTEND_TEXT_PROTO_FIELDS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace attend {

// Throws Error(kInput): not a SentencePiece model.
[[noreturn]] void DamagedModel(const std::string& where, const char* what);

uint64_t ReadVarint(std::string_view* bytes, const std::string& where);

// Calls use(content) for each length-delimited field `number` of a message. Throws Error(kInput)
// for a damaged one; `where` opens the message.
template <class Use>
void ForEachField(std::string_view message, uint64_t number, const std::string& where,
                  const Use& use) {
  while (!message.empty()) {
    const uint64_t tag = ReadVarint(&message, where);
    uint64_t size = 0;
    switch (tag & 7) {
      case 0:
        ReadVarint(&message, where);
        break;
      case 1:
        size = 8;
        break;
      case 2:
        size = ReadVarint(&message, where);
        break;
      case 5:
        size = 4;
        break;
      default:
        DamagedModel(where, "a field has an unknown type");
    }
    if (size > message.size()) DamagedModel(where, "the file is cut short");
    if ((tag & 7) == 2 && tag >> 3 == number) use(message.substr(0, size));
    message.remove_prefix(size);
  }
}

std::string ProtoField(uint64_t number, std::string_view content);
std::string ProtoField(uint64_t number, bool value);

}  // namespace attend

#endif  // ATTEND_TEXT_PROTO_FIELDS_H_
