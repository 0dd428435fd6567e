#include "serve/form.h"

#include <algorithm>
#include <charconv>

#include "attend/error.h"
#include "text/utf8.h"

namespace attend {
namespace {

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
      throw Error(ErrorKind::kInput,
                  "request body: not a valid form: expected two hexadecimal digits after %");
    }
    decoded += static_cast<char>(byte);
    i += 2;
  }
  if (!IsValidUtf8(decoded)) {
    throw Error(ErrorKind::kInput, "request body: not a valid form: expected UTF-8");
  }
  return decoded;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ParseForm(std::string_view body) {
  std::vector<std::pair<std::string, std::string>> members;
  while (!body.empty()) {
    const size_t end = std::min(body.find('&'), body.size());
    const std::string_view member = body.substr(0, end);
    const size_t equals = std::min(member.find('='), member.size());
    if (!member.empty()) {
      members.emplace_back(Decode(member.substr(0, equals)),
                           Decode(member.substr(std::min(equals + 1, member.size()))));
    }
    body.remove_prefix(std::min(end + 1, body.size()));
  }
  return members;
}

}  // namespace attend
