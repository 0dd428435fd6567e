#include "train/ranks_agree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
  for (const auto& [name, digest] : first["data"].items()) {
    if (own["data"].value(name, Json()) != digest)
      differences.push_back(fmt::format("{} holds other text", name));
  }
  const Json &environment = own["environment"], &there = first["environment"];
  if (environment["threads"] != there["threads"]) {
    differences.push_back(fmt::format("threads is {}, there {}", environment["threads"].dump(),
                                      there["threads"].dump()));
  }
  if (!differences.empty()) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("this is not the run of rank 0: {}; give all ranks the same options "
                            "and data",
                            fmt::join(differences, "; ")));
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
