#include "train/tasks/translation/text_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <string>
#include <vector>

#include "attend/error.h"
#include "data/text_survey.h"
#include "train/tasks/translation/translation_train_options.h"

namespace attend {
namespace {

constexpr double kWarnedShare = 0.001;
constexpr double kRefusedShare = 0.5;

// A text of a run, as its options and messages call it.
struct NamedText {
  const char* option;
  const char* name;
  ParallelFiles files;
};

// Of a side of a text.
void CheckUnknown(const UnknownCharacters& unknown, const std::string& where, const Log& log) {
  if (unknown.unknown == 0) return;
  const std::string found =
      fmt::format("{}: the vocabulary has no tokens for {}", where, unknown.Text());
  if (unknown.Share() >= kRefusedShare) {
    throw Error(ErrorKind::kInput,
                fmt::format("{}; expected a vocabulary of this text's language: make one, or look "
                            "whether source and target are exchanged",
                            found));
  }
  if (unknown.Share() < kWarnedShare) {
    log(LogLevel::kInfo, found);
    return;
  }
  log(LogLevel::kWarning,
      fmt::format("{}; make a vocabulary with byte_fallback, or with a larger character_coverage",
                  found));
}

bool TwoLanguages(const TrainOptions& options) {
  const std::vector<std::string>& languages = options.model.languages;
  return languages.size() == 2 && languages[0] != languages[1];
}

[[noreturn]] void RefuseCopy(const std::string& file, const TrainOptions& options) {
  throw Error(ErrorKind::kInput,
              fmt::format("'{}' has the same text on both sides, but languages are {} and {}; "
                          "expected a translation, line by line",
                          file, options.model.languages[0], options.model.languages[1]));
}

Json Survey(const NamedText& text, const Vocabularies& vocabularies, const PairHashes& wanted,
            int threads, TextSurvey* survey, const Log& log) {
  *survey = SurveyText(text.files, vocabularies.source, vocabularies.target, wanted, threads);
  CheckUnknown(survey->source, fmt::format("{}_source", text.option), log);
  CheckUnknown(survey->target, fmt::format("{}_target", text.option), log);
  if (!survey->copies.empty()) {
    log(LogLevel::kWarning,
        fmt::format("both sides of '{}' are the same text ({} of {} files of {}_source are so): a "
                    "model learns to copy it",
                    text.files.source[survey->copies[0]], survey->copies.size(),
                    text.files.source.size(), text.option));
  }
  return {{"source", ToJson(survey->source)}, {"target", ToJson(survey->target)}};
}

// Of the text `all` ("1,000 test pairs").
void WarnOfKnown(const NamedLines& pairs, int64_t sources, const std::string& all, const Log& log) {
  std::vector<std::string> parts;
  if (pairs.count > 0)
    parts.push_back(
        fmt::format("{} are also in the training text ({})", pairs.count, pairs.Text()));
  if (sources > 0)
    parts.push_back(
        fmt::format("{} have a source line that is also there, with another target", sources));
  if (parts.empty()) return;
  log(LogLevel::kWarning, fmt::format("of {}, {}: their scores say little about other text", all,
                                      fmt::join(parts, ", and ")));
}

}  // namespace

void CheckSides(const TrainOptions& options) {
  if (!TwoLanguages(options)) return;
  const CorpusOptions& corpus = TranslationOf(options).corpus;
  for (size_t i = 0; i < corpus.train_source.size(); ++i) {
    std::error_code ignored;  // of a file that can't be read: reading names it
    if (std::filesystem::equivalent(corpus.train_source[i], corpus.train_target[i], ignored))
      RefuseCopy(corpus.train_source[i], options);
  }
}

Json CheckTexts(const TrainOptions& options, const Vocabularies& vocabularies, int threads,
                const Log& log) {
  const CorpusOptions& corpus = TranslationOf(options).corpus;
  const NamedText train{"train", "training", {corpus.train_source, corpus.train_target}};
  const NamedText others[] = {{"valid", "validation", {corpus.valid_source, corpus.valid_target}},
                              {"test", "test", {corpus.test_source, corpus.test_target}}};
  std::vector<HeldOutPairs> held_out;
  PairHashes wanted;
  for (const NamedText& text : others) held_out.emplace_back(text.files).AddTo(&wanted);
  TextSurvey survey;
  Json report = Json::object();
  report["train"] = Survey(train, vocabularies, wanted, threads, &survey, log);
  const auto refuse_copy = [&](const NamedText& text) {
    constexpr int64_t kSurelyText = 100;  // fewer equal lines may be names or numbers
    if (TwoLanguages(options) && !survey.copies.empty() && survey.source.characters >= kSurelyText)
      RefuseCopy(text.files.source[survey.copies[0]], options);
  };
  refuse_copy(train);
  for (const auto& [option, files] :
       {std::pair{"train_text", &corpus.train_text}, {"valid_text", &corpus.valid_text}}) {
    if (files->empty()) continue;
    const TextSurvey plain =
        SurveyText({*files, *files}, vocabularies.source, vocabularies.target, {}, threads);
    CheckUnknown(plain.source, option, log);
    report[option] = ToJson(plain.source);
  }
  const PairHashes met = std::move(survey.met);
  for (size_t i = 0; i < std::size(others); ++i) {
    const NamedText& text = others[i];
    if (text.files.source.empty()) continue;
    report[text.option] = Survey(text, vocabularies, {}, threads, &survey, log);
    refuse_copy(text);
    const auto [pairs, sources] = held_out[i].Among(met);
    report[text.option]["in_training_text"] = pairs.count;
    report[text.option]["source_in_training_text"] = sources;
    WarnOfKnown(pairs, sources, fmt::format("{} {} pairs", held_out[i].count(), text.name), log);
  }
  return report;
}

}  // namespace attend
