#include "serve/multipart.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "attend/error.h"
#include "text/ascii.h"

namespace attend {
namespace {

constexpr size_t kMostParts = 100;
constexpr size_t kLongestBoundary = 70;  // RFC 2046

[[noreturn]] void Refuse(std::string_view what) {
  throw Error(ErrorKind::kInput,
              fmt::format("request body: not valid multipart/form-data: {}", what));
}

// Cuts off and returns what stands before `end`, or all where that is not there.
std::string_view TakeUntil(std::string_view end, std::string_view* text) {
  const size_t at = std::min(text->find(end), text->size());
  const std::string_view before = text->substr(0, at);
  text->remove_prefix(std::min(at + end.size(), text->size()));
  return before;
}

// Of a header's value: `form-data; name="q"` has name.
std::map<std::string, std::string> Attributes(std::string_view value) {
  std::map<std::string, std::string> attributes;
  TakeUntil(";", &value);
  while (!value.empty()) {
    const std::string name = LowerCase(Trimmed(TakeUntil("=", &value)));
    const bool quoted = value.starts_with('"');
    if (quoted) value.remove_prefix(1);
    const std::string_view text =
        quoted ? TakeUntil("\"", &value) : Trimmed(TakeUntil(";", &value));
    if (quoted) TakeUntil(";", &value);
    if (!attributes.emplace(name, text).second) Refuse("an attribute of a header appears twice");
  }
  return attributes;
}

std::string DelimiterOf(std::string_view content_type) {
  const auto attributes = Attributes(content_type);
  const auto boundary = attributes.find("boundary");
  if (boundary == attributes.end() || boundary->second.empty() ||
      boundary->second.size() > kLongestBoundary) {
    Refuse("expected a boundary of 1 to 70 characters in Content-Type");
  }
  return "--" + boundary->second;
}

FormPart PartOf(std::string_view head, std::string_view content) {
  FormPart part;
  bool named = false;
  while (!head.empty()) {
    std::string_view line = TakeUntil("\r\n", &head);
    const std::string name = LowerCase(Trimmed(TakeUntil(":", &line)));
    if (name == "content-transfer-encoding" && LowerCase(Trimmed(line)) != "binary" &&
        LowerCase(Trimmed(line)) != "8bit") {
      Refuse("expected no Content-Transfer-Encoding");
    }
    if (name != "content-disposition") continue;
    if (named) Refuse("expected one Content-Disposition in each part");
    auto attributes = Attributes(line);
    named = attributes.contains("name");
    part.name = attributes["name"];
    for (const char* file_name : {"filename*", "filename"}) {
      if (attributes.contains(file_name)) part.file_name = attributes[file_name];
    }
  }
  if (!named) Refuse("expected a name in each part's Content-Disposition");
  part.content = content;
  return part;
}

}  // namespace

std::vector<FormPart> ParseMultipart(std::string_view content_type, std::string_view body) {
  const std::string delimiter = DelimiterOf(content_type);
  if (!body.starts_with(delimiter)) Refuse("expected the boundary first");
  body.remove_prefix(delimiter.size());
  std::vector<FormPart> parts;
  while (!body.starts_with("--")) {
    if (!body.starts_with("\r\n")) Refuse("expected a line's end after the boundary");
    body.remove_prefix(2);
    const size_t head = body.find("\r\n\r\n");
    if (head == std::string_view::npos) Refuse("expected an empty line before a part's content");
    const size_t begin = head + 4;
    const size_t end = body.find("\r\n" + delimiter, begin);
    if (end == std::string_view::npos) Refuse("expected the boundary after a part");
    if (parts.size() == kMostParts) Refuse(fmt::format("expected at most {} parts", kMostParts));
    parts.push_back(PartOf(body.substr(0, head), body.substr(begin, end - begin)));
    body.remove_prefix(end + 2 + delimiter.size());
  }
  return parts;
}

}  // namespace attend
