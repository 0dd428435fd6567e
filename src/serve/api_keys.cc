#include "serve/api_keys.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <cctype>

#include "attend/error.h"
#include "base/sha256.h"
#include "text/ascii.h"
#include "text/lines.h"

namespace attend {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Cut off, where `NAME: KEY` has one.
std::string_view TakeName(std::string_view* line) {
  const size_t colon = line->find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 >= line->size()) return "";
  const std::string_view name = Trimmed(line->substr(0, colon));
  const bool spaced = (*line)[colon + 1] == ' ' || (*line)[colon + 1] == '\t';
  const bool named = std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view(".-_").find(c) != std::string_view::npos;
  });
  if (!spaced || !named) return "";
  *line = Trimmed(line->substr(colon + 1));
  return name;
}

}  // namespace

ApiKeys::ApiKeys(std::string path) : path_(std::move(path)) {
  if (required()) Reload();
}

void ApiKeys::Reload() {
  if (!required()) return;
  std::vector<Key> keys;
  size_t number = 0;
  for (const std::string& text : ReadLines(path_, FormatCheck::kText)) {
    std::string_view line = text;
    if (++number == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(3);
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = Trimmed(line);
    if (line.empty() || line[0] == '#') continue;
    const std::string_view name = TakeName(&line);
    if (std::ranges::any_of(line, [](unsigned char c) { return c < 0x20 || c == 0x7F; })) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{}: line {} holds a control character, expected a key of text; save "
                              "the file as UTF-8",
                              path_, number));
    }
    keys.push_back(
        {name.empty() ? fmt::format("line {}", number) : std::string(name), Sha256(line)});
  }
  if (keys.empty()) {
    throw Error(ErrorKind::kInput, fmt::format("{}: holds no API key; expected one a line", path_));
  }
  const std::lock_guard lock(mutex_);
  keys_ = std::move(keys);
}

std::optional<std::string> ApiKeys::NameOf(std::string_view key) const {
  if (!required()) return "";
  const std::string given = Sha256(key);
  const std::lock_guard lock(mutex_);
  std::optional<std::string> name;
  for (const Key& known : keys_) {  // all of them, wherever one fits
    const bool fits = sodium_memcmp(known.digest.data(), given.data(), given.size()) == 0;
    if (fits && !name) name = known.name;
  }
  return name;
}

}  // namespace attend
