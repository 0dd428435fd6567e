#include "serve/tasks/translation/memories.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "memory/memory_file.h"

namespace attend {
namespace {

// "office" of "/srv/office.tsv.gz".
std::string NameOf(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name.substr(0, name.find('.', 1));
}

}  // namespace

Memories::Memories(const ServeOptions& options) {
  const bool some_tmx = std::ranges::any_of(
      options.memory, [](const std::string& given) { return IsTmx(NameAndPath(given).second); });
  for (const std::string& given : options.memory) {
    auto [name, path] = NameAndPath(given);
    if (name.empty()) name = NameOf(path);
    if (all_.contains(name)) {
      throw Error(ErrorKind::kUsage, fmt::format("two memories are named '{}'; name one with "
                                                 "--memory NAME=FILE",
                                                 name));
    }
    const bool with_languages = IsTmx(path) || !some_tmx;  // which LoadMemory refuses for a table
    all_.emplace(std::move(name), LoadMemory(path, with_languages ? options.memory_source : "",
                                             with_languages ? options.memory_target : ""));
  }
}

Memories::MemoryPtr Memories::Find(const std::string& name) const {
  const auto found = all_.find(name);
  if (found != all_.end()) return found->second;
  std::string names;
  for (const auto& [known, _] : all_) names += (names.empty() ? "" : ", ") + known;
  throw Error(ErrorKind::kUsage,
              fmt::format("there is no memory '{}', expected {}", Excerpt(name),
                          names.empty() ? "none: this server has no --memory" : "one of " + names));
}

HttpResponse Memories::List() const {
  Json memories = Json::array();
  for (const auto& [name, memory] : all_)
    memories.push_back({{"name", name}, {"units", memory->size()}});
  return {200, Dump({{"memories", std::move(memories)}})};
}

}  // namespace attend
