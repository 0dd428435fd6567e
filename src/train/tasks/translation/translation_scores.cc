#include "train/tasks/translation/translation_scores.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "attend/error.h"
#include "attend/metrics.h"
#include "attend/translator.h"
#include "metrics/exact_match.h"
#include "metrics/tokenizer_choice.h"
#include "tasks/translation/line_batch.h"
#include "text/lines.h"
#include "text/utf8.h"

namespace attend {
namespace {

std::vector<std::string> ReadAll(const std::vector<std::string>& files,
                                 const std::vector<std::string>& prefixes) {
  std::vector<std::string> lines;
  for (size_t file = 0; file < files.size(); ++file) {
    for (const std::string& line : ReadLines(files[file])) {
      const std::string& prefix = prefixes.empty() || line.empty() ? "" : prefixes[file];
      lines.push_back(prefix + RepairUtf8(line, nullptr, Nul::kKept));
    }
  }
  return lines;
}

void AddScore(const std::string& name, const Metric& metric,
              const std::vector<std::string>& outputs, const std::vector<std::string>& references,
              Json* scores) {
  const double score = CorpusScore(metric, outputs, {references});
  (*scores)[name] = {{"score", std::stod(fmt::format("{:.2f}", score))},
                     {"signature", metric.Signature(1)}};
}

}  // namespace

ParallelText ReadParallelText(const std::vector<std::string>& source,
                              const std::vector<std::string>& target,
                              const std::vector<std::string>& prefixes) {
  ParallelText text{ReadAll(source, prefixes), ReadAll(target, {})};
  if (text.source.size() != text.target.size() || text.source.empty()) {
    throw Error(
        ErrorKind::kInput,
        fmt::format("{} has {} lines and {} has {}, expected the same number and at least one",
                    fmt::join(source, " + "), text.source.size(), fmt::join(target, " + "),
                    text.target.size()));
  }
  return text;
}

Outputs TranslateLines(const std::shared_ptr<const LoadedModel>& model,
                       const std::vector<std::string>& lines,
                       const TranslationTrainOptions& options, int threads,
                       const std::function<void(size_t)>& translated) {
  const auto at_once = static_cast<size_t>(LinesAtOnce(threads));
  const Translator translator(model, {.threads = threads});
  constexpr int64_t kNoBound = 100000;
  const LineOptions splitting{.split_sentences = options.split_sentences,
                              .max_input_tokens = kNoBound,
                              .keep_line_ends = false};
  TranslationOptions search;
  search.beam_size = options.beam_size;
  search.length_penalty = options.length_penalty;
  Outputs outputs;
  while (outputs.lines.size() < lines.size()) {
    const size_t first = outputs.lines.size(), end = std::min(first + at_once, lines.size());
    LineBatch batch(&translator, model->model(), splitting);
    for (size_t line = first; line < end; ++line)
      batch.Add(lines[line], fmt::format("line {}", line + 1));
    for (const Translation& translation : batch.Translate(search)) {
      outputs.lines.push_back(translation.hypotheses.at(0).text);
      if (!translation.hypotheses[0].finished) ++outputs.cut;
    }
    translated(outputs.lines.size());
  }
  return outputs;
}

Json ScoreTranslations(const std::vector<std::string>& outputs,
                       const std::vector<std::string>& references, const BleuOptions& bleu) {
  ChrfOptions chrf, chrf_words;
  chrf.lowercase = chrf_words.lowercase = bleu.lowercase;
  chrf_words.word_order = 2;
  Json scores = Json::object();
  AddScore("bleu", Bleu(bleu), outputs, references, &scores);
  AddScore("chrf", Chrf(chrf), outputs, references, &scores);
  AddScore("chrf++", Chrf(chrf_words), outputs, references, &scores);
  TerOptions ter;
  ter.normalized = ter.asian_support = HasIdeographs(bleu.language);
  AddScore("ter", Ter(ter), outputs, references, &scores);
  AddScore("exact_match", ExactMatch(bleu.lowercase), outputs, references, &scores);
  return scores;
}

BleuOptions BleuOf(const TrainOptions& options, const std::vector<std::string>& references) {
  BleuOptions bleu = TranslationOf(options).bleu;
  bleu.lowercase = TranslationOf(options).corpus.vocabulary.lower_cases();
  if (!options.model.languages.empty()) bleu.language = options.model.languages.back();
  if (TokenizerOf(bleu.language) != BleuTokenizer::k13a) return bleu;
  if (const std::string written = LanguageByScript(references); !written.empty())
    bleu.language = written;
  return bleu;
}

}  // namespace attend
