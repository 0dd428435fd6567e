#include "cli/evaluate/bracket_scores.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "attend/error.h"
#include "base/counted.h"
#include "metrics/characters.h"
#include "text/lines.h"

namespace attend {
namespace {

// The figures in the order of evalb's summary.
std::vector<std::pair<const char*, double>> Figures(const BracketCounts& counts) {
  return {{"recall", counts.recall()},
          {"precision", counts.precision()},
          {"f1", counts.f1()},
          {"exact_match", counts.exact_match()},
          {"average_crossing", counts.average_crossing()},
          {"no_crossing", counts.no_crossing_share()},
          {"few_crossing", counts.few_crossing_share()},
          {"tagging_accuracy", counts.tagging_accuracy()}};
}

Json CountsToJson(const BracketCounts& counts, int64_t width) {
  Json json = {{"sentences", counts.sentences}, {"errors", counts.errors},
               {"skipped", counts.skipped},     {"expected", counts.expected},
               {"found", counts.found},         {"right", counts.right},
               {"words", counts.words}};
  for (const auto& [name, value] : Figures(counts))
    json[name] = std::stod(fmt::format("{:.{}f}", value, width));
  return json;
}

std::string Section(const std::string& title, const BracketCounts& counts, int64_t width) {
  static const std::vector<const char*> names = {
      "Bracketing Recall", "Bracketing Precision", "Bracketing FMeasure", "Complete match",
      "Average crossing",  "No crossing",          "2 or less crossing",  "Tagging accuracy"};
  std::string text = fmt::format("-- {} --\n", title);
  const auto count = [&](const char* name, int64_t value) {
    text += fmt::format("{:<25} = {:>6}\n", name, value);
  };
  count("Number of sentence", counts.sentences);
  count("Number of Error sentence", counts.errors);
  count("Number of Skip  sentence", counts.skipped);
  count("Number of Valid sentence", counts.valid());
  size_t next = 0;
  for (const auto& [name, value] : Figures(counts))
    text += fmt::format("{:<25} = {:>6.{}f}\n", names[next++], value, width);
  return text;
}

std::vector<std::string> ReadTrees(const std::string& path) {
  std::vector<std::string> lines = ReadLines(path, FormatCheck::kText);
  for (std::string& line : lines) line = StripRight(line);
  return lines;
}

}  // namespace

BracketScores ScoreBracketFiles(const std::string& hypothesis, const std::string& reference,
                                const Log& log) {
  const std::vector<std::string> found = ReadTrees(hypothesis), expected = ReadTrees(reference);
  if (found.size() != expected.size()) {
    throw Error(ErrorKind::kInput,
                fmt::format("{} has {} lines and {} has {}, expected the same: a tree a line",
                            hypothesis, found.size(), reference, expected.size()));
  }
  if (found.empty())
    throw Error(ErrorKind::kInput, fmt::format("{} is empty, expected a tree a line", hypothesis));
  BracketScores scores = ScoreBrackets(found, expected);
  if (scores.all.errors + scores.all.skipped > 0) {
    log(LogLevel::kWarning,
        fmt::format("not counted: {} with other words or unbalanced brackets, {} without a tree",
                    Counted(scores.all.errors, "sentence"), scores.all.skipped));
  }
  return scores;
}

Json ToJson(const BracketScores& scores, int64_t width) {
  Json json = CountsToJson(scores.all, width);
  json["score"] = json["f1"];
  json["within_40"] = CountsToJson(scores.within, width);
  return {{"brackets", json}};
}

std::string ToText(const BracketScores& scores, int64_t width) {
  return Section("All", scores.all, width) + "\n" +
         Section(fmt::format("len<={}", kBracketCutoff), scores.within, width);
}

}  // namespace attend
