#include "cli/item_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include "attend/error.h"
#include "base/counted.h"
#include "base/json.h"
#include "base/thread_pool.h"
#include "cli/text_commands.h"
#include "data/items.h"
#include "media/fit_picture.h"
#include "tasks/classification/classification_json.h"
#include "tasks/fusion/fusion_json.h"
#include "text/lines.h"

namespace attend {
namespace {

// A line, or why it can't be read.
struct GivenItem {
  std::string id, error;
  ClassifiedItem item;
};

void LeaveOut(const std::vector<std::string>& inputs, ClassifiedItem* item) {
  for (const std::string& input : inputs) {
    if (input == "text") item->text.reset();
    if (input == "picture") item->pixels.clear();
    if (input == "links") item->links.clear();
  }
}

GivenItem ReadLine(const std::string& line, const std::string& where, const ItemRun& run,
                   const std::filesystem::path& folder) {
  GivenItem given;
  try {
    Item item = ParseItem(line, folder, where);
    given.id = item.id;
    given.item.text = std::move(item.text);
    given.item.links = std::move(item.links);
    const bool looks = std::ranges::find(run.without, "picture") == run.without.end();
    if (looks && !item.picture.empty())
      given.item.pixels = ReadFitted(item.picture, run.patches).pixels;
    LeaveOut(run.without, &given.item);
    if (const std::string reason = run.classifier.ReasonAgainst(given.item); !reason.empty())
      given.error = fmt::format("{}: {}", where, reason);
  } catch (const Error& error) {
    given.error = error.what();
  }
  return given;
}

void Print(const GivenItem& given, const ItemClassification& found, const ItemRun& run) {
  if (run.common.json) {
    std::cout << Printable(Dump(ItemToJson(given.id, found, given.error, run.top))) << '\n';
    return;
  }
  std::string line;
  for (const ClassProbability& each : LikeliestClasses(found, run.top))
    line += fmt::format("{}{}\t{:.4f}", line.empty() ? "" : "\t", each.label, each.probability);
  std::cout << line << '\n';
}

// Counts what could not be read.
struct Unreadable {
  int64_t items = 0, count = 0;
  std::string first;
};

// Some lines of one file, of which the first has this number.
struct ItemLines {
  std::vector<std::string> lines;
  std::string file;
  int64_t first = 1;
  std::filesystem::path folder;  // where pictures' paths start
};

void RunLines(const ItemLines& given_lines, const ItemRun& run, ThreadPool* pool,
              Unreadable* unreadable) {
  std::vector<GivenItem> given(given_lines.lines.size());
  pool->ParallelFor(std::ssize(given), [&](int64_t i, int /*worker*/) {
    const std::string where = fmt::format("{}:{}", given_lines.file, given_lines.first + i);
    given[i] = ReadLine(given_lines.lines[i], where, run, given_lines.folder);
  });
  std::vector<ClassifiedItem> good;
  for (GivenItem& each : given)
    if (each.error.empty()) good.push_back(std::move(each.item));
  const std::vector<ItemClassification> found =
      run.classifier.Classify(good, /*contributions=*/run.common.json);
  const ItemClassification nothing;
  size_t next = 0;
  for (const GivenItem& each : given) {
    ++unreadable->items;
    const bool bad = !each.error.empty();
    if (bad && unreadable->count++ == 0) unreadable->first = each.error;
    Print(each, bad ? nothing : found[next++], run);
  }
}

// Takes the lines that are there already, but waits for one.
bool NextLines(LineReader* reader, ItemLines* lines) {
  constexpr size_t kTogether = 64;
  lines->first = reader->lines() + 1;
  lines->lines.clear();
  std::string line;
  while (lines->lines.size() < kTogether && (lines->lines.empty() || reader->Ready()) &&
         reader->Next(&line))
    lines->lines.push_back(line);
  return !lines->lines.empty();
}

// Names between commas.
std::vector<std::string> InputsOf(const std::string& names) {
  std::vector<std::string> inputs;
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    inputs.push_back(names.substr(begin, end - begin));
    begin = end + 1;
    const std::string& input = inputs.back();
    if (input == "text" || input == "picture" || input == "links") continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("without has '{}', expected text, picture or links", input));
  }
  return inputs;
}

}  // namespace

void RunOnItems(const std::vector<std::string>& files, const std::string& without, ItemRun run) {
  run.without = InputsOf(without);
  ThreadPool pool(run.common.ThreadCount());
  Unreadable unreadable;
  for (const std::string& file : OrStandardInput(files)) {
    const std::string path = file == "-" ? file : run.common.DataPath(file);
    LineReader reader(path, FormatCheck::kText);
    ItemLines lines;
    lines.file = reader.name();
    lines.folder = file == "-" ? std::filesystem::path(run.common.data_dir)
                               : std::filesystem::path(path).parent_path();
    while (NextLines(&reader, &lines)) {
      RunLines(lines, run, &pool, &unreadable);
      FlushOutput();
    }
  }
  if (unreadable.count == 0) return;
  if (unreadable.count == unreadable.items) throw Error(ErrorKind::kInput, unreadable.first);
  run.common.MakeLog()(LogLevel::kWarning,
                       fmt::format("{} of {} could not be read and {} no answer; the first: {}",
                                   unreadable.count, Counted(unreadable.items, "item"),
                                   unreadable.count == 1 ? "has" : "have", unreadable.first));
}

}  // namespace attend
