#include "tasks/translation/directions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "attend/error.h"

namespace attend {
namespace {

void CheckDirection(const ModelConfig& first, std::vector<std::string> expected,
                    const ModelConfig& model, const std::string& named) {
  const std::vector<std::string>& found = model.languages;
  if (expected.empty() || found.empty() || expected == found) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("the model translates from {}, and {} from {}; expected one that "
                          "translates from {}",
                          fmt::join(first.languages, " to "), named, fmt::join(found, " to "),
                          fmt::join(expected, " to ")));
}

}  // namespace

void CheckSameDirection(const ModelConfig& first, const ModelConfig& model,
                        const std::string& named) {
  CheckDirection(first, first.languages, model, named);
}

void CheckOppositeDirection(const ModelConfig& first, const ModelConfig& reverse,
                            const std::string& named) {
  std::vector<std::string> expected = first.languages;
  std::ranges::reverse(expected);
  CheckDirection(first, std::move(expected), reverse, named);
}

}  // namespace attend
