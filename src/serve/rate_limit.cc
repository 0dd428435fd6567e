#include "serve/rate_limit.h"

#include <algorithm>

namespace attend {
namespace {

constexpr std::chrono::minutes kWindow{1};
constexpr size_t kFewClients = 1024;

}  // namespace

RateLimit::RateLimit(int64_t per_minute)
    : limited_(per_minute > 0),
      interval_(RateLimit::Clock::duration(kWindow) / std::max<int64_t>(per_minute, 1)),
      most_clients_(kFewClients) {}

int64_t RateLimit::Take(const std::string& client, Clock::time_point now) {
  if (!limited_) return 0;
  const std::lock_guard lock(mutex_);
  if (whole_at_.size() >= most_clients_) Forget(now);
  Clock::time_point& whole_at = whole_at_.try_emplace(client, now).first->second;
  const Clock::duration missing = std::max(whole_at, now) + interval_ - now;
  if (missing > kWindow) return std::chrono::ceil<std::chrono::seconds>(missing - kWindow).count();
  whole_at = now + missing;
  return 0;
}

// Seldom enough for its cost to be little for each request.
void RateLimit::Forget(Clock::time_point now) {
  std::erase_if(whole_at_, [now](const auto& client) { return client.second <= now; });
  most_clients_ = std::max(kFewClients, 2 * whole_at_.size());
}

}  // namespace attend
