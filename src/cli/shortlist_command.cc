// `attend shortlist`: which words may translate which, for a smaller output layer.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "attend/error.h"
#include "attend/vocabulary.h"
#include "base/files.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/line_windows.h"
#include "model/shortlist.h"
#include "tasks/task_names.h"
#include "text/lexicon.h"

namespace attend {
namespace {

struct ShortlistOptions {
  std::string model, output;
  std::vector<std::string> source, target;
  int64_t best = 100, frequent = 100;
};

FieldList Fields(ShortlistOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "the model directory, for its vocabularies")
      .Add("source", &options.source,
           "source side of parallel text, a sentence a line; several files count together")
      .Add("target", &options.target,
           "its translation, line by line; as many files, in the same order")
      .Add("output", &options.output, "shortlist file to write")
      .Add("best", &options.best, 1, 10000, "number of target tokens kept for each source token")
      .Add("frequent", &options.frequent, 0, 100000,
           "number of most frequent target tokens that every sentence may use");
  return fields;
}

// Of two files; `lines` counts those of all.
void AddPairs(LineWindows* pairs, const Vocabulary& source, const Vocabulary& target,
              const Log& log, LexiconTrainer* trainer, int64_t* lines) {
  while (pairs->Next()) {
    for (size_t i = 0; i < pairs->lines(0).size(); ++i) {
      trainer->Add(source.Encode(pairs->lines(0)[i]), target.Encode(pairs->lines(1)[i]));
      if (++*lines % 100000 == 0) log(LogLevel::kInfo, fmt::format("{} pairs read", *lines));
    }
  }
  pairs->ReportMalformed(log);
}

void ReportLeftOut(int64_t lines, const LexiconTrainer& trainer, const Log& log) {
  const int64_t left_out = trainer.left_out();
  if (lines == left_out) {
    throw Error(ErrorKind::kInput,
                fmt::format("attend shortlist: the text has no lines of at most {} tokens",
                            LexiconTrainer::kMostPieces));
  }
  if (left_out == 0) return;
  log(LogLevel::kWarning,
      fmt::format("{} of {} pairs have more than {} tokens on a side and are left out", left_out,
                  lines, LexiconTrainer::kMostPieces));
}

Shortlist Make(LexiconTrainer* trainer, const ShortlistOptions& options) {
  Shortlist shortlist;
  shortlist.frequent = trainer->MostFrequentTargets();
  if (std::ssize(shortlist.frequent) > options.frequent) {
    shortlist.frequent.resize(options.frequent);
  }
  for (const std::vector<LexicalEntry>& entries : trainer->Train()) {
    std::vector<int32_t>& kept = shortlist.candidates.emplace_back();
    for (const LexicalEntry& entry : entries) {
      if (std::ssize(kept) == options.best || entry.probability <= 0) break;
      kept.push_back(entry.target);
    }
  }
  return shortlist;
}

void Run(const ShortlistOptions& options, const CommonOptions& common) {
  if (options.source.size() != options.target.size()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("attend shortlist: {} for {}; expected as many of one as of the other",
                            Counted(std::ssize(options.source), "source file"),
                            Counted(std::ssize(options.target), "target file")));
  }
  const auto model = LoadModel(options.model);
  CheckTask(model->config, {"translation"});
  AtomicFile file(
      options.output);  // first: that it can't be written is better known before the work
  if (model->source_vocabulary.empty()) {
    throw Error(ErrorKind::kUsage, "the model has no vocabulary, which a shortlist needs");
  }
  const auto source = Vocabulary::FromBytes(model->source_vocabulary, "source vocabulary");
  const auto target = Vocabulary::FromBytes(model->target_vocabulary, "target vocabulary");
  // At least 200, so that what is frequent beside a piece does not crowd out its translations.
  LexiconTrainer trainer(source->size(), std::max<int64_t>(options.best, 200));
  int64_t lines = 0;
  for (size_t i = 0; i < options.source.size(); ++i) {
    LineWindows pairs({common.DataPath(options.source[i]), common.DataPath(options.target[i])},
                      false);
    AddPairs(&pairs, *source, *target, common.MakeLog(), &trainer, &lines);
  }
  ReportLeftOut(lines, trainer, common.MakeLog());
  const Shortlist shortlist = Make(&trainer, options);
  SaveShortlist(shortlist, *model, &file);
  int64_t total = 0;
  for (const auto& candidates : shortlist.candidates) total += std::ssize(candidates);
  common.MakeLog()(
      LogLevel::kInfo,
      fmt::format("wrote {}: {} frequent pieces and {:.1f} for each source piece", options.output,
                  shortlist.frequent.size(),
                  static_cast<double>(total) / static_cast<double>(shortlist.candidates.size())));
}

}  // namespace

int RunShortlist(const std::vector<std::string>& arguments) {
  CommonOptions common;
  ShortlistOptions options;
  CommandLine command_line("shortlist",
                           "learn which words may translate which, for a smaller output layer",
                           "attend shortlist --model MODEL --source train.en --target train.de "
                           "--output en-de.shortlist\n"
                           "attend shortlist --model MODEL --source a.en b.en --target a.de b.de "
                           "--output en-de.shortlist");
  command_line.Options(Fields(options))
      .Options(Fields(common, {"quiet", "data_dir"}))
      .Required({"model", "source", "target", "output"});
  if (!command_line.Parse(arguments)) return 0;
  Run(options, common);
  return 0;
}

}  // namespace attend
