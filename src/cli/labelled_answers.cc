#include "cli/labelled_answers.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "metrics/classes.h"
#include "metrics/error_rate.h"
#include "metrics/exact_match.h"

namespace attend {

void TellRight(const LabelledAnswers& classes, const std::string& one, const Log& log) {
  if (classes.found.empty()) return;
  const ClassScores scores = ScoreClasses(classes.found, classes.expected);
  log(LogLevel::kInfo, fmt::format("right: {:.2f} % of {}; macro F1 {:.2f}", scores.accuracy(),
                                   Counted(scores.items(), one), scores.macro_f1()));
}

void TellErrorRates(const LabelledAnswers& texts, const std::string& one, const Log& log) {
  if (texts.found.empty()) return;
  const auto score = [&](const Metric& metric) {
    return CorpusScore(metric, texts.found, {texts.expected});
  };
  log(LogLevel::kInfo,
      fmt::format("WER {:.2f} %, CER {:.2f} %, exact {:.2f} % of {}",
                  score(ErrorRate(ErrorUnit::kWords)), score(ErrorRate(ErrorUnit::kCharacters)),
                  score(ExactMatch()), Counted(std::ssize(texts.found), one)));
}

}  // namespace attend
