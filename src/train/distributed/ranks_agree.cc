#include "train/distributed/ranks_agree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attend/error.h"

namespace attend {

void CheckRanksAgree(const RunIdentity& identity, const Log& log, ProcessGroup* group) {
  const Json own = {{"options", identity.options},
                    {"data", identity.data_digests},
                    {"environment", identity.environment}};
  const Json first = ParseJson(group->FromFirst(own.dump()), "the options on rank 0");
  std::vector<std::string> differences;
  for (const OptionDifference& each : DifferentOptions(first["options"], identity.options))
    differences.push_back(fmt::format("{} is {}, there {}", each.name, each.now, each.before));
  if (first["options"].contains("adapter") && !TrainsAdapter(identity))
    differences.emplace_back("adapter.rank is not given");
  Json names = first["data"];
  names.update(own["data"]);
  for (const auto& [name, digest] : names.items()) {
    if (!own["data"].contains(name) || !first["data"].contains(name)) {
      const int64_t without = first["data"].contains(name) ? group->rank() : 0;
      differences.push_back(fmt::format("rank {} has no {}", without, name));
    } else if (own["data"][name] != first["data"][name]) {
      differences.push_back(fmt::format("{} holds other text", name));
    }
  }
  if (!differences.empty()) differences.push_back("give all ranks the same options and data");
  const Json &environment = own["environment"], &there = first["environment"];
  if (environment["attend"] != there["attend"]) {  // their sums may differ
    differences.push_back(fmt::format("attend is {}, there {}; start the same version on all",
                                      environment["attend"].dump(), there["attend"].dump()));
  }
  const auto threads = environment["threads"].get<int64_t>(),
             threads_there = there["threads"].get<int64_t>();
  if (threads != threads_there) {  // as on machines of several sizes
    differences.push_back(fmt::format("threads is {}, there {}; give --threads {} to all", threads,
                                      threads_there, std::min(threads, threads_there)));
  }
  if (!differences.empty()) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("this is not the run of rank 0: {}", fmt::join(differences, "; ")));
  }
  for (const auto& [name, value] : environment.items()) {
    if (value != there[name]) {
      log(LogLevel::kWarning, fmt::format("rank {} will round otherwise than rank 0: {} is {}, "
                                          "there {}",
                                          group->rank(), name, value.dump(), there[name].dump()));
    }
  }
}

}  // namespace attend
