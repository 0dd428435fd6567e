#include "base/control_groups.h"

#include <algorithm>
#include <fstream>
#include <limits>

namespace attend {
namespace fs = std::filesystem;
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// Microseconds of processor time in a period of wall time.
double Quota(double time, double period) {
  return time > 0 && period > 0 ? time / period : kUnbounded;
}

double QuotaOf(const fs::path& directory, int version) {
  double time = 0, period = 0;
  if (version == 2) {
    std::ifstream bound(directory / "cpu.max");  // "150000 100000", or "max 100000"
    return bound >> time >> period ? Quota(time, period) : kUnbounded;
  }
  std::ifstream times(directory / "cpu.cfs_quota_us");  // -1: no bound
  std::ifstream periods(directory / "cpu.cfs_period_us");
  return times >> time && periods >> period ? Quota(time, period) : kUnbounded;
}

}  // namespace

void ForEachControlGroup(const std::string& controller, const fs::path& root,
                         const std::function<void(const fs::path& directory, int version)>& visit) {
  std::ifstream groups(root / "proc/self/cgroup");
  std::string number, controllers, path;  // "4:cpu,cpuacct:/a/b", of version 2 "0::/a/b"
  while (std::getline(groups, number, ':') && std::getline(groups, controllers, ':') &&
         std::getline(groups, path)) {
    const bool second = controllers.empty();
    if (!second && ("," + controllers + ",").find("," + controller + ",") == std::string::npos)
      continue;
    const fs::path all = root / "sys/fs/cgroup";
    fs::path hierarchy = second ? all : all / controller;
    // Where there is no link from a controller to what it shares with others.
    if (std::error_code error; !second && !fs::exists(hierarchy, error))
      hierarchy = all / controllers;
    for (fs::path group = fs::path(path).relative_path();; group = group.parent_path()) {
      visit(hierarchy / group, second ? 2 : 1);
      if (group.empty()) break;
    }
  }
}

double ProcessorQuota(const fs::path& root) {
  double least = kUnbounded;
  ForEachControlGroup("cpu", root, [&](const fs::path& directory, int version) {
    least = std::min(least, QuotaOf(directory, version));
  });
  return least;
}

}  // namespace attend
