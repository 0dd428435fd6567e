#include "serve/tasks/translation/translated_files.h"

#include <sodium.h>

#include <algorithm>
#include <utility>

namespace attend {
namespace {

constexpr std::chrono::minutes kLifetime{10};
constexpr size_t kMostBytesKept = size_t{64} << 20;

}  // namespace

std::string TranslatedFiles::Put(std::string content, const std::string& suffix,
                                 Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  unsigned char random[16];
  randombytes_buf(random, sizeof random);
  char digits[2 * sizeof random + 1];
  const std::string name = sodium_bin2hex(digits, sizeof digits, random, sizeof random) + suffix;
  bytes_ += content.size();
  files_.push_back({name, std::move(content), now + kLifetime});
  Forget(now);
  return name;
}

std::optional<std::string> TranslatedFiles::Get(const std::string& name, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  Forget(now);
  const auto found = std::ranges::find(files_, name, &File::name);
  if (found == files_.end()) return std::nullopt;
  return found->content;
}

void TranslatedFiles::Forget(Clock::time_point now) {
  while (!files_.empty() && (files_.front().end <= now || bytes_ > kMostBytesKept)) {
    bytes_ -= files_.front().content.size();
    files_.pop_front();
  }
}

}  // namespace attend
