// How often each client may ask.
#ifndef ATTEND_SERVE_RATE_LIMIT_H_
#define ATTEND_SERVE_RATE_LIMIT_H_

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace attend {

// Safe to use from many threads. Holds the clients of the last minute.
class RateLimit {
 public:
  using Clock = std::chrono::steady_clock;

  // Requests a minute of each client, which it may send at once; 0: without limit.
  explicit RateLimit(int64_t per_minute);

  // Counts a request, and returns 0; or the whole seconds after which the client may ask again.
  int64_t Take(const std::string& client, Clock::time_point now);

 private:
  void Forget(Clock::time_point now);

  const bool limited_;
  const Clock::duration interval_;  // in which one request comes back
  std::mutex mutex_;
  std::unordered_map<std::string, Clock::time_point> whole_at_;  // when all have come back
  size_t most_clients_;  // before those that have all of theirs back are forgotten
};

}  // namespace attend

#endif  // ATTEND_SERVE_RATE_LIMIT_H_
