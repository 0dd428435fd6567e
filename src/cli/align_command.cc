// `attend align`: which words of parallel text are translations of each other.
#include <fmt/format.h>

#include <set>
#include <unordered_map>

#include "attend/error.h"
#include "base/files.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/line_windows.h"
#include "metrics/characters.h"
#include "text/lines.h"
#include "text/text_words.h"
#include "text/utf8.h"
#include "text/word_aligner.h"

namespace attend {
namespace {

struct AlignOptions {
  std::string source, target, output;
  int64_t iterations = 5;
};

FieldList Fields(AlignOptions& options) {
  FieldList fields;
  fields.Add("source", &options.source, "source side of parallel text, a sentence a line")
      .Add("target", &options.target, "its translation, line by line")
      .Add("output", &options.output,
           "file to write: for each pair its links, such as 0-0 1-2 (source word, target word, "
           "divided by white space, from 0)")
      .Add("iterations", &options.iterations, 1, 100, "number of passes over the text");
  return fields;
}

// One side of the text: ids of its words, and the white-space words that these are parts of.
struct AlignedSide {
  std::unordered_map<std::u32string, int32_t> known;
  std::vector<std::vector<int32_t>> places;  // by line and word

  std::vector<int32_t> Read(const std::string& line) {
    const std::vector<size_t> ends = WordEnds(line);
    std::vector<int32_t> ids;
    std::vector<int32_t>& within = places.emplace_back();
    int32_t place = 0;
    for (const TextWord& word : WordsOfText(line)) {
      const std::u32string text =
          LowerCase(CodePoints(std::string_view(line).substr(word.begin, word.end - word.begin)));
      ids.push_back(known.emplace(text, static_cast<int32_t>(known.size()) + 1).first->second);
      while (ends[place] <= word.begin) ++place;
      within.push_back(place);
    }
    return ids;
  }
};

// Of white-space words.
std::string LinkText(const WordLinks& links, const std::vector<int32_t>& sources,
                     const std::vector<int32_t>& targets) {
  std::set<std::pair<int32_t, int32_t>> words;
  for (const auto& [source, target] : links) words.emplace(sources[source], targets[target]);
  std::string text;
  for (const auto& [source, target] : words)
    text += fmt::format("{}{}-{}", text.empty() ? "" : " ", source, target);
  return text + "\n";
}

void RunAligner(const AlignOptions& options, const CommonOptions& common) {
  AtomicFile file(options.output);  // first: that it can't be written is better known before
  LineWindows lines({common.DataPath(options.source), common.DataPath(options.target)}, false);
  AlignedSide source, target;
  std::vector<WordPair> pairs;
  int64_t left_out = 0;
  while (lines.Next()) {
    for (size_t i = 0; i < lines.lines(0).size(); ++i) {
      pairs.push_back({source.Read(lines.lines(0)[i]), target.Read(lines.lines(1)[i])});
      const auto longest = std::max(pairs.back().source.size(), pairs.back().target.size());
      left_out += longest > static_cast<size_t>(kMostAlignedWords);
    }
  }
  lines.ReportMalformed(common.MakeLog());
  if (left_out > 0) {
    common.MakeLog()(
        LogLevel::kWarning,
        fmt::format("{} of {} pairs have more than {} words on a side and get no links", left_out,
                    pairs.size(), kMostAlignedWords));
  }
  const std::vector<WordLinks> found = LinkWords(std::move(pairs), options.iterations);
  int64_t links = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    file.Write(LinkText(found[i], source.places[i], target.places[i]));
    links += std::ssize(found[i]);
  }
  file.Commit();
  common.MakeLog()(LogLevel::kInfo, fmt::format("wrote {}: {} links of {} pairs", options.output,
                                                links, found.size()));
}

}  // namespace

int RunAlign(const std::vector<std::string>& arguments) {
  CommonOptions common;
  AlignOptions options;
  CommandLine command_line("align",
                           "tell which words of parallel text are translations of each other",
                           "attend align --source train.en --target train.de "
                           "--output train.en-de.align");
  command_line.Options(Fields(options))
      .Options(Fields(common, {"quiet", "data_dir"}))
      .Required({"source", "target", "output"});
  if (!command_line.Parse(arguments)) return 0;
  RunAligner(options, common);
  return 0;
}

}  // namespace attend
