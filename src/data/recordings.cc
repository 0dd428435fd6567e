#include "data/recordings.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/sha256.h"
#include "media/sound.h"
#include "text/lines.h"
#include "text/utf8.h"

namespace attend {
std::vector<RecordingItem> ReadRecordings(const std::vector<std::string>& tables) {
  std::vector<RecordingItem> items;
  for (int64_t table = 0; table < std::ssize(tables); ++table) {
    LineReader reader(tables[table], FormatCheck::kText);
    const std::filesystem::path folder = std::filesystem::path(tables[table]).parent_path();
    std::string line;
    while (reader.Next(&line)) {
      const size_t tab = line.find('\t');
      if (tab == line.npos || tab == 0) {
        throw Error(ErrorKind::kInput, fmt::format("{}:{}: '{}', expected a path, a tab and a text",
                                                   tables[table], reader.lines(), Excerpt(line)));
      }
      items.push_back({{table, reader.lines() - 1},
                       folder / line.substr(0, tab),
                       RepairUtf8(line.substr(tab + 1))});
    }
  }
  if (items.empty()) {
    throw Error(ErrorKind::kInput,
                fmt::format("'{}' is empty, expected `path<TAB>text`", tables[0]));
  }
  return items;
}

std::vector<SeenRecording> SeeRecordings(const std::vector<RecordingItem>& items, int64_t rate,
                                         ThreadPool* pool) {
  std::vector<SeenRecording> seen(items.size());
  pool->ParallelFor(std::ssize(items), [&](int64_t i, int /*worker*/) {
    try {
      const Sound sound = ReadSound(items[i].path);
      seen[i].samples = SamplesAt(rate, sound);
      seen[i].sha256 = Sha256({reinterpret_cast<const char*>(sound.samples.data()),
                               sound.samples.size() * sizeof(float)});
      seen[i].sha256 += fmt::format(" {}", sound.rate);
    } catch (const Error& error) {
      seen[i].reason = error.what();
    }
  });
  return seen;
}

}  // namespace attend
