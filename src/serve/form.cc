#include "serve/form.h"

#include <algorithm>
#include <charconv>

#include "attend/error.h"
#include "text/utf8.h"

namespace attend {
namespace {

constexpr size_t kMostMembers = 100;

[[noreturn]] void RefuseForm(const std::string& expected) {
  throw Error(ErrorKind::kInput, "request: not a valid form: expected " + expected);
}

std::string Decode(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    unsigned byte = 0;
    const char* first = text.data() + i + 1;
    if (i + 2 >= text.size() || std::from_chars(first, first + 2, byte, 16).ptr != first + 2) {
      RefuseForm("two hexadecimal digits after %");
    }
    decoded += static_cast<char>(byte);
    i += 2;
  }
  if (!IsValidUtf8(decoded)) RefuseForm("UTF-8");
  return decoded;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ParseForm(std::string_view form) {
  std::vector<std::pair<std::string, std::string>> members;
  while (!form.empty()) {
    const size_t end = std::min(form.find('&'), form.size());
    const std::string_view member = form.substr(0, end);
    const size_t equals = std::min(member.find('='), member.size());
    if (members.size() == kMostMembers) {
      RefuseForm("at most " + std::to_string(kMostMembers) + " members");
    }
    if (!member.empty()) {
      members.emplace_back(Decode(member.substr(0, equals)),
                           Decode(member.substr(std::min(equals + 1, member.size()))));
    }
    form.remove_prefix(std::min(end + 1, form.size()));
  }
  return members;
}

}  // namespace attend
