#include "memory/memory_file.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "attend/error.h"
#include "base/excerpt.h"
#include "memory/tmx.h"
#include "text/ascii.h"
#include "text/lines.h"
#include "text/utf8.h"

namespace attend {
namespace {

std::vector<MemoryUnit> ReadTable(const std::string& path) {
  LineReader reader(path, FormatCheck::kText);
  std::vector<MemoryUnit> units;
  for (std::string line; reader.Next(&line);) {
    if (line.empty()) continue;
    const std::string text = RepairUtf8(line);
    const size_t tab = text.find('\t');
    if (tab == std::string::npos) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{}:{}: '{}' has no tab, expected source, tab and target",
                              reader.name(), reader.lines(), Excerpt(text)));
    }
    const size_t end = text.find('\t', tab + 1);
    units.push_back({text.substr(0, tab), text.substr(tab + 1, end - tab - 1)});
  }
  return units;
}

bool IsTmx(const std::string& path) { return LowerCase(path).ends_with(".tmx"); }

}  // namespace

std::shared_ptr<const TranslationMemory> LoadMemory(const std::string& path,
                                                    const std::string& source,
                                                    const std::string& target) {
  std::vector<MemoryUnit> units;
  if (IsCompressed(path) && IsTmx(path.substr(0, path.rfind('.')))) {
    throw Error(ErrorKind::kInput,
                fmt::format("{}: a TMX is not read compressed; unpack it first", path));
  }
  if (IsTmx(path)) {
    ReadTmx(path, source, target, [&](MemoryUnit unit) { units.push_back(std::move(unit)); });
  } else {
    units = ReadTable(path);
  }
  auto memory = std::make_shared<const TranslationMemory>(std::move(units));
  if (memory->size() == 0) {
    throw Error(ErrorKind::kInput,
                fmt::format("{}: no text with its translation, expected lines of source, tab and "
                            "target, or a TMX",
                            path));
  }
  return memory;
}

}  // namespace attend
