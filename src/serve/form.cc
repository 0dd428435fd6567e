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

std::string Decode(std::string text) {
  std::ranges::replace(text, '+', ' ');
  std::optional<std::string> decoded = DecodePath(text);
  if (!decoded) RefuseForm("two hexadecimal digits after %");
  if (!IsValidUtf8(*decoded)) RefuseForm("UTF-8");
  return *std::move(decoded);
}

}  // namespace

std::optional<std::string> DecodePath(std::string_view path) {
  std::string decoded;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      decoded += path[i];
      continue;
    }
    unsigned byte = 0;
    const char* first = path.data() + i + 1;
    if (i + 2 >= path.size() || std::from_chars(first, first + 2, byte, 16).ptr != first + 2)
      return std::nullopt;
    decoded += static_cast<char>(byte);
    i += 2;
  }
  return decoded;
}

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
      members.emplace_back(Decode(std::string(member.substr(0, equals))),
                           Decode(std::string(member.substr(std::min(equals + 1, member.size())))));
    }
    form.remove_prefix(std::min(end + 1, form.size()));
  }
  return members;
}

}  // namespace attend
