#include "cli/translate/shard.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "attend/error.h"
#include "base/excerpt.h"

namespace attend {
namespace {

constexpr int64_t kMostShards = 1'000'000;

bool ParseNumber(std::string_view text, int64_t* number) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return status == std::errc() && end == text.data() + text.size();
}

}  // namespace

LineShard LineShard::Parse(const std::string& text) {
  LineShard shard;
  if (text.empty()) return shard;
  const size_t slash = text.find('/');
  const std::string_view view = text;
  if (slash != std::string::npos && ParseNumber(view.substr(0, slash), &shard.index) &&
      ParseNumber(view.substr(slash + 1), &shard.count) && shard.index >= 1 &&
      shard.index <= shard.count && shard.count <= kMostShards)
    return shard;
  throw Error(
      ErrorKind::kUsage,
      fmt::format("--shard: '{}' is no shard, expected I/N, the Ith of N parts, from 1/N to "
                  "N/N, N at most {}",
                  Excerpt(text), kMostShards));
}

std::pair<int64_t, int64_t> LineShard::LinesOf(int64_t lines) const {
  // Without a product that could overflow.
  const int64_t each = lines / count, more = lines % count;
  const auto end = [&](int64_t shards) { return each * shards + more * shards / count; };
  return {end(index - 1) + 1, end(index)};
}

}  // namespace attend
