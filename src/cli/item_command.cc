#include "cli/item_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <utility>

#include "attend/error.h"
#include "base/edit_distance.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "base/thread_pool.h"
#include "cli/file_windows.h"
#include "cli/labelled_answers.h"
#include "cli/text_commands.h"
#include "data/items.h"
#include "media/fit_picture.h"
#include "tasks/classification/classification_json.h"
#include "tasks/fusion/fusion_json.h"
#include "tasks/fusion/item_reader.h"
#include "text/lines.h"

namespace attend {
namespace {

// A line, or why it can't be read.
struct GivenItem {
  std::string id, label, error;
  ClassifiedItem item;
};

// How lines are read.
struct Reading {
  const ItemRun& run;
  std::vector<std::string> without;  // inputs to leave out
  std::string needed = {};           // one that an item must have
};

bool Has(const ClassifiedItem& item, const std::string& input) {
  return input == "text" ? item.text.has_value() : !item.pixels.empty();
}

GivenItem ReadLine(const std::string& line, const std::string& where, const Reading& reading,
                   const std::filesystem::path& folder) {
  GivenItem given;
  try {
    Item item = ParseItem(line, folder, where);
    given.id = item.id;
    given.label = item.label;
    given.item.text = std::move(item.text);
    given.item.links = std::move(item.links);
    const bool looks = std::ranges::find(reading.without, "picture") == reading.without.end();
    if (looks && !item.picture.empty())
      given.item.pixels = ReadFitted(item.picture, reading.run.patches).pixels;
    for (const std::string& input : reading.without) LeaveOut(input, &given.item);
    std::string reason = reading.run.classifier.ReasonAgainst(given.item);
    if (!reading.needed.empty() && !Has(given.item, reading.needed))
      reason = fmt::format("the item has no {}, expected one", reading.needed);
    if (!reason.empty()) given.error = fmt::format("{}: {}", where, reason);
  } catch (const Error& error) {
    const std::string message = error.what();
    given.error = message.starts_with(where) ? message : fmt::format("{}: {}", where, message);
  }
  return given;
}

void Print(const GivenItem& given, const ItemClassification& found, int64_t top, bool json) {
  if (!json) {
    std::cout << ClassesToLine(found, top) << '\n';
    return;
  }
  Json line = ItemToJson(given.id, found, given.error, top);
  if (!given.label.empty()) line["label"] = given.label;
  std::cout << Printable(Dump(line)) << '\n';
}

// Some lines of one file, of which the first has this number.
struct ItemLines {
  std::vector<std::string> lines;
  std::string file;
  int64_t first = 1;
  std::filesystem::path folder;  // where pictures' paths start
};

// Hears of some lines and, of those that can be read, in their order, the items.
using Answer = std::function<void(const std::vector<GivenItem>& given,
                                  const std::vector<ClassifiedItem>& good)>;

void RunLines(const ItemLines& given_lines, const Reading& reading, ThreadPool* pool,
              const Answer& answer, Unreadable* unreadable) {
  std::vector<GivenItem> given(given_lines.lines.size());
  pool->ParallelFor(std::ssize(given), [&](int64_t i, int /*worker*/) {
    const std::string where = fmt::format("{}:{}", given_lines.file, given_lines.first + i);
    given[i] = ReadLine(given_lines.lines[i], where, reading, given_lines.folder);
  });
  std::vector<ClassifiedItem> good;
  for (GivenItem& each : given) {
    unreadable->Count(each.error);
    if (each.error.empty()) good.push_back(std::move(each.item));
  }
  answer(given, good);
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

// Of --without: names between commas.
std::vector<std::string> InputsOf(const std::string& names) {
  const std::vector<std::string>& all = ItemInputNames();
  std::vector<std::string> inputs;
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    inputs.push_back(names.substr(begin, end - begin));
    begin = end + 1;
    const std::string& input = inputs.back();
    if (std::ranges::find(all, input) != all.end()) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("--without has '{}', expected text, picture or links{}", input,
                            DidYouMean(input, all)));
  }
  const auto left_out = [&](const std::string& input) {
    return std::ranges::find(inputs, input) != inputs.end();
  };
  if (std::ranges::all_of(all, left_out)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--without is '{}', which leaves no input; leave out one", names));
  }
  return inputs;
}

void RunOnItems(const std::vector<std::string>& files, const Reading& reading,
                const Answer& answer) {
  const CommonOptions& common = reading.run.common;
  ThreadPool pool(common.ThreadCount());
  Unreadable unreadable;
  for (const std::string& file : OrStandardInput(files)) {
    const std::string path = file == "-" ? file : common.DataPath(file);
    LineReader reader(path, FormatCheck::kText);
    ItemLines lines;
    lines.file = reader.name();
    lines.folder = file == "-" ? std::filesystem::path(common.data_dir)
                               : std::filesystem::path(path).parent_path();
    while (NextLines(&reader, &lines)) {
      RunLines(lines, reading, &pool, answer, &unreadable);
      FlushOutput();
    }
  }
  unreadable.Tell("item", "answer", common.MakeLog());
}

}  // namespace

void ClassifyItems(const std::vector<std::string>& files, const ItemRun& run, int64_t top,
                   const std::string& without) {
  const bool json = run.common.json;
  const Reading reading{run, InputsOf(without)};
  int64_t cut = 0;
  LabelledAnswers answers;
  RunOnItems(files, reading, [&](const auto& given, const auto& good) {
    const std::vector<ItemClassification> found =
        run.classifier.Classify(good, /*contributions=*/json);
    cut += std::ranges::count_if(found, &ItemClassification::cut);
    const ItemClassification nothing;
    size_t next = 0;
    for (const GivenItem& each : given) {
      const ItemClassification& said = each.error.empty() ? found[next++] : nothing;
      if (each.error.empty() && !each.label.empty())
        answers.Add(said.classes.front().label, each.label);
      Print(each, said, top, json);
    }
  });
  WarnOfCutTexts(cut, run.common.MakeLog());
  TellRight(answers, "labelled item", run.common.MakeLog());
}

void EmbedItems(const std::vector<std::string>& files, const ItemRun& run, const std::string& of,
                VectorOutput* output) {
  const bool text = of == "text";
  if (!text && of != "picture") {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("--of is '{}', expected text or picture: what an item's vector is of", of));
  }
  const EmbeddedPart part = text ? EmbeddedPart::kText : EmbeddedPart::kPicture;
  run.classifier.Embed({}, part);  // throws where there are no vectors
  int64_t cut = 0;
  const Reading reading{run, {text ? "picture" : "text", "links"}, of};
  RunOnItems(files, reading, [&](const auto& given, const auto& good) {
    const std::vector<ItemVector> found = run.classifier.Embed(good, part);
    cut += std::ranges::count_if(found, &ItemVector::cut);
    size_t next = 0;
    for (const GivenItem& each : given) {
      if (!each.error.empty()) {
        output->AddUnreadable({{"id", each.id}}, each.error);
        continue;
      }
      const ItemVector& vector = found[next++];
      output->Add({{"id", each.id}, {"cut", vector.cut}}, vector.values_W);
    }
  });
  WarnOfCutTexts(cut, run.common.MakeLog());
}

}  // namespace attend
