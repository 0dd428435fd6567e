// What the control groups (version 1 or 2) of this process leave it, as in a container.
#ifndef ATTEND_BASE_CONTROL_GROUPS_H_
#define ATTEND_BASE_CONTROL_GROUPS_H_

#include <filesystem>
#include <functional>
#include <string>

namespace attend {

// Calls visit(directory, version) for each group of this process that bounds what `controller`
// ("memory", "cpu") hands out, and for those around it. `root` is where /proc and /sys stand.
void ForEachControlGroup(
    const std::string& controller, const std::filesystem::path& root,
    const std::function<void(const std::filesystem::path& directory, int version)>& visit);

// Processors' worth of time that the groups grant, such as 1.5; infinity where there is no bound.
double ProcessorQuota(const std::filesystem::path& root = "/");

}  // namespace attend

#endif  // ATTEND_BASE_CONTROL_GROUPS_H_
