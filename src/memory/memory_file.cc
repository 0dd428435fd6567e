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
    if (!IsValidUtf8(line)) {
      throw Error(ErrorKind::kInput, fmt::format("{}:{} is not UTF-8; convert the file to UTF-8",
                                                 reader.name(), reader.lines()));
    }
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{}:{}: '{}' has no tab, expected source, tab and target",
                              reader.name(), reader.lines(), Excerpt(line)));
    }
    const size_t end = line.find('\t', tab + 1);
    units.push_back({line.substr(0, tab), line.substr(tab + 1, end - tab - 1)});
  }
  return units;
}

}  // namespace

bool IsTmx(const std::string& path) { return LowerCase(path).ends_with(".tmx"); }

std::shared_ptr<const TranslationMemory> LoadMemory(const std::string& path,
                                                    const std::string& source,
                                                    const std::string& target) {
  std::vector<MemoryUnit> units;
  if (IsCompressed(path) && IsTmx(path.substr(0, path.rfind('.')))) {
    throw Error(ErrorKind::kInput,
                fmt::format("{}: a TMX is not read compressed; unpack it first", path));
  }
  if (!IsTmx(path) && !(source.empty() && target.empty())) {
    throw Error(ErrorKind::kUsage,
                fmt::format("languages are named, '{}' and '{}', and {} is no TMX; a table has its "
                            "source first and names none",
                            source, target, path));
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
