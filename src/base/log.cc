#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "base/excerpt.h"

namespace attend {

Log NoLog() {
  return [](LogLevel, std::string_view) {};
}

Log StandardErrorLog(bool quiet) {
  auto logger = std::make_shared<spdlog::logger>(
      "attend", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_pattern("%^%v%$");
  logger->set_level(quiet ? spdlog::level::warn : spdlog::level::info);
  return [logger](LogLevel level, std::string_view text) {
    const std::string message = Printable(text);
    if (level == LogLevel::kWarning) {
      logger->warn("warning: {}", message);
    } else {
      logger->info("{}", message);
    }
  };
}

}  // namespace attend
