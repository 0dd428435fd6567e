// `attend annotate`: terms written into the source side of parallel text.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "attend/error.h"
#include "base/files.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/line_windows.h"
#include "text/lines.h"
#include "text/term_annotation.h"

namespace attend {
namespace {

struct AnnotateOptions {
  std::string source, target, links, glossary, output;
  int64_t most_terms = 3;
};

FieldList Fields(AnnotateOptions& options) {
  FieldList fields;
  fields.Add("source", &options.source, "source side of parallel text, a sentence a line")
      .Add("target", &options.target, "its translation, line by line")
      .Add(
          "links", &options.links,
          "word alignments of the two, as `attend align` writes them: terms are drawn from phrases "
          "that are translations of each other")
      .Add("glossary", &options.glossary,
           "file with a term a line: source, target and flags, divided by tabs: terms are those "
           "whose target stands in the translation")
      .Add("output", &options.output, "file to write: the source side with terms")
      .Add("most_terms", &options.most_terms, 1, 100,
           "maximum number of terms in a line; how many a line has is drawn");
  return fields;
}

void Check(const AnnotateOptions& options) {
  if (options.links.empty() != options.glossary.empty()) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("attend annotate: {}; give one of --links and --glossary",
                          options.links.empty() ? "nothing says what the terms are"
                                                : "links and a glossary are given"));
}

// The links of one pair. `where`: file and line.
AlignmentLinks ReadLinks(const std::string& line, const std::string& where, int64_t sources,
                         int64_t targets) {
  AlignmentLinks links = ParseAlignment(line, where).sure;
  for (const auto& [source, target] : links) {
    if (source < sources && target < targets) continue;
    throw Error(ErrorKind::kInput,
                fmt::format("{}: the link {}-{} is to a word that is not there: the source has {} "
                            "words, the target {}",
                            where, source, target, sources, targets));
  }
  return links;
}

void Annotate(const AnnotateOptions& options, const CommonOptions& common) {
  std::optional<PairTerms> glossary;
  std::vector<std::string> paths = {common.DataPath(options.source),
                                    common.DataPath(options.target)};
  if (options.glossary.empty()) {
    paths.push_back(common.DataPath(options.links));
  } else {
    glossary.emplace(Glossary::Load(common.DataPath(options.glossary)));
  }
  AtomicFile file(options.output);
  LineWindows lines(paths, /*terminal=*/false);
  int64_t pairs = 0, annotated = 0, terms = 0;
  while (lines.Next()) {
    for (size_t i = 0; i < lines.lines(0).size(); ++i, ++pairs) {
      const std::string &source = lines.lines(0)[i], &target = lines.lines(1)[i];
      const auto all = [&] {
        if (glossary) return glossary->Find(source, target);
        const std::string where = fmt::format("{}:{}", paths[2], lines.number() + i);
        return PhrasesOfPair(
            source, target,
            ReadLinks(lines.lines(2)[i], where, CountWords(source), CountWords(target)));
      };
      Random random({static_cast<uint64_t>(common.seed), static_cast<uint64_t>(pairs)});
      const std::vector<FoundTerm> drawn = DrawTerms(all(), options.most_terms, &random);
      annotated += drawn.empty() ? 0 : 1;
      terms += std::ssize(drawn);
      file.Write(WithTerms(source, drawn).text + "\n");
    }
  }
  lines.ReportMalformed(common.MakeLog());
  file.Commit();
  common.MakeLog()(LogLevel::kInfo, fmt::format("wrote {}: {} terms in {} of {} lines",
                                                options.output, terms, annotated, pairs));
}

}  // namespace

int RunAnnotate(const std::vector<std::string>& arguments) {
  CommonOptions common;
  AnnotateOptions options;
  CommandLine command_line("annotate",
                           "write terms and their translations into the source side of parallel "
                           "text, as models learn to read them",
                           "attend annotate --source train.en --target train.de "
                           "--links train.en-de.align --output train.terms.en\n"
                           "attend annotate --source train.en --target train.de "
                           "--glossary terms.tsv --output train.terms.en");
  command_line.Options(Fields(options))
      .Options(Fields(common, {"quiet", "seed", "data_dir"}))
      .Required({"source", "target", "output"});
  if (!command_line.Parse(arguments)) return 0;
  Check(options);
  Annotate(options, common);
  return 0;
}

}  // namespace attend
