// Where messages for people go. The library never prints by itself: whoever starts it passes a Log.
#ifndef ATTEND_BASE_LOG_H_
#define ATTEND_BASE_LOG_H_

#include <functional>
#include <string_view>

namespace attend {

enum class LogLevel { kInfo, kWarning };

// Takes one message without a line end. May be called from any thread.
using Log = std::function<void(LogLevel, std::string_view)>;

// Drops every message.
Log NoLog();

// Writes through spdlog to standard error, each message as a printable line; with `quiet` only
// warnings.
Log StandardErrorLog(bool quiet);

}  // namespace attend

#endif  // ATTEND_BASE_LOG_H_
