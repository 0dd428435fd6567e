#include "train/loop/divergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "train/logs/metrics_log.h"

namespace attend {
namespace {

constexpr std::ptrdiff_t kAtMost = 100;  // updates of the beginning and of the end
constexpr double kMargin = 1.2;

// Of each update; NaN where it was skipped.
std::vector<double> LossesIn(const std::filesystem::path& metrics) {
  std::vector<double> losses;
  ForEachMetric(metrics, [&](const Json& line) {
    const auto loss = line.find("loss");
    if (loss == line.end()) return;
    const bool counts = loss->is_number() && !line.contains("skipped");
    losses.push_back(counts ? loss->get<double>() : std::numeric_limits<double>::quiet_NaN());
  });
  return losses;
}

// Of those that count; NaN where none does.
double Mean(std::vector<double> losses) {
  std::erase_if(losses, [](double loss) { return std::isnan(loss); });
  return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
}

}  // namespace

std::string DivergenceIn(const std::filesystem::path& metrics, int64_t choices) {
  constexpr const char* kCure =
      "try a lower peak_learning_rate, a longer warmup_updates or clip_norm";
  const std::vector<double> losses = LossesIn(metrics);
  const std::ptrdiff_t count = std::clamp<std::ptrdiff_t>(std::ssize(losses) / 10, 1, kAtMost);
  if (std::ssize(losses) < 2 * count) return "";
  const std::vector<double> last(losses.end() - count, losses.end());
  const auto skipped =
      std::count_if(last.begin(), last.end(), [](double x) { return std::isnan(x); });
  if (2 * skipped > count) {
    return fmt::format(
        "{} of the last {} updates were skipped, since loss or gradient were not "
        "finite; {}",
        skipped, count, kCure);
  }
  const double begin = Mean({losses.begin(), losses.begin() + count}), end = Mean(last);
  const double guessing = std::log(static_cast<double>(choices));
  if (!(end > kMargin * std::max(std::isnan(begin) ? guessing : begin, guessing))) return "";
  return fmt::format(
      "the loss ended at {:.4g}, above the {:.4g} of its beginning and the {:.4g} of "
      "guessing: the training diverged, and the model is of no use; {}",
      end, begin, guessing, kCure);
}

}  // namespace attend
