#include "serve/translated_files.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <utility>

namespace attend {
namespace {

constexpr std::chrono::minutes kLifetime{10};
constexpr size_t kMostBytesKept = size_t{64} << 20;

}  // namespace

std::string TranslatedFiles::Put(std::string content, const std::string& suffix,
                                 Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  std::array<uint32_t, 4> random;
  randombytes_buf(random.data(), sizeof random);
  const std::string name =
      fmt::format("{:08x}{:08x}{:08x}{:08x}{}", random[0], random[1], random[2], random[3], suffix);
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
