#include "attend/nn/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attend/error.h"

namespace attend::nn {
namespace {

double Ratio(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double NoamSchedule(int64_t step, int64_t d_model, int64_t warmup_updates) {
  const double update = static_cast<double>(step), warmup = static_cast<double>(warmup_updates);
  return std::pow(static_cast<double>(d_model), -0.5) *
         std::min(std::pow(update, -0.5), update * std::pow(warmup, -1.5));
}

double InverseSqrtSchedule(int64_t step, double peak_learning_rate, int64_t warmup_updates) {
  if (step < warmup_updates) return peak_learning_rate * Ratio(step, warmup_updates);
  return peak_learning_rate * std::sqrt(Ratio(std::max<int64_t>(warmup_updates, 1), step));
}

double CosineSchedule(int64_t step, double peak_learning_rate, double end_learning_rate,
                      int64_t warmup_updates, int64_t max_updates) {
  if (step < warmup_updates) return peak_learning_rate * Ratio(step, warmup_updates);
  if (step >= max_updates) return end_learning_rate;
  const double done = Ratio(step - warmup_updates, max_updates - warmup_updates);
  return end_learning_rate +
         (peak_learning_rate - end_learning_rate) * 0.5 * (1 + std::cos(std::numbers::pi * done));
}

double ConstantSchedule(int64_t step, double peak_learning_rate, int64_t warmup_updates) {
  return step < warmup_updates ? peak_learning_rate * Ratio(step, warmup_updates)
                               : peak_learning_rate;
}

double LearningRate(const ScheduleConfig& config, int64_t step) {
  if (step < 1) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("update number is {}, expected at least 1: updates count from 1", step));
  }
  const double peak = config.peak_learning_rate;
  switch (config.kind) {
    case ScheduleKind::kNoam:
      return config.noam_scale *
             NoamSchedule(step, config.d_model, std::max<int64_t>(config.warmup_updates, 1));
    case ScheduleKind::kInverseSqrt:
      return InverseSqrtSchedule(step, peak, config.warmup_updates);
    case ScheduleKind::kCosine:
      return CosineSchedule(step, peak, config.end_learning_rate, config.warmup_updates,
                            config.max_updates);
    case ScheduleKind::kConstant:
      break;
  }
  return ConstantSchedule(step, peak, config.warmup_updates);
}

}  // namespace attend::nn
