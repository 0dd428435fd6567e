#include "serve/api_keys.h"

#include <fmt/format.h>
#include <sodium.h>

#include "attend/error.h"
#include "base/sha256.h"
#include "text/lines.h"

namespace attend {

ApiKeys::ApiKeys(std::string path) : path_(std::move(path)) {
  if (required()) Reload();
}

void ApiKeys::Reload() {
  if (!required()) return;
  std::vector<std::string> digests;
  for (const std::string& line : ReadLines(path_)) {
    const size_t last = line.find_last_not_of(" \t");
    if (last != std::string::npos && line[0] != '#') {
      digests.push_back(Sha256(std::string_view(line).substr(0, last + 1)));
    }
  }
  if (digests.empty()) {
    throw Error(ErrorKind::kInput, fmt::format("{}: holds no API key; expected one a line", path_));
  }
  const std::lock_guard lock(mutex_);
  digests_ = std::move(digests);
}

bool ApiKeys::Allows(std::string_view key) const {
  if (!required()) return true;
  const std::string given = Sha256(key);
  const std::lock_guard lock(mutex_);
  bool found = false;
  for (const std::string& digest : digests_) {  // all of them, wherever one fits
    found |= sodium_memcmp(digest.data(), given.data(), given.size()) == 0;
  }
  return found;
}

}  // namespace attend
