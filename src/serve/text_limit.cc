#include "serve/text_limit.h"

#include <fmt/format.h>

#include "attend/error.h"

namespace attend {
namespace {

// Where --max-input-tokens says nothing: each takes memory.
constexpr int64_t kUsualMostTokens = 4096;
// What has more bytes for each token is surely too long.
constexpr int64_t kMostBytesOfAToken = 64;

void CheckSize(const std::string& name, int64_t size, const char* unit, int64_t most) {
  if (size <= most) return;
  throw Error(ErrorKind::kInput,
              fmt::format("{} has {} {}, expected at most {}; shorten it", name, size, unit, most));
}

}  // namespace

TextLimit::TextLimit(const ServeOptions& options)
    : tokens_(options.max_input_tokens > 0 ? options.max_input_tokens : kUsualMostTokens) {}

void TextLimit::CheckBytes(const std::string& name, int64_t bytes) const {
  CheckSize(name, bytes, "bytes", tokens_ * kMostBytesOfAToken);
}

void TextLimit::CheckTokens(const std::string& name, int64_t tokens) const {
  CheckSize(name, tokens, "tokens", tokens_);
}

}  // namespace attend
