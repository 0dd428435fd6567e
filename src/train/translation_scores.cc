#include "train/translation_scores.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "attend/error.h"
#include "attend/metrics.h"
#include "attend/translator.h"
#include "metrics/tokenizer_choice.h"
#include "text/lines.h"
#include "text/utf8.h"

namespace attend {
namespace {

std::vector<std::string> ReadAll(const std::vector<std::string>& files) {
  std::vector<std::string> lines;
  for (const std::string& file : files) {
    for (const std::string& line : ReadLines(file)) lines.push_back(RepairUtf8(line));
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
                              const std::vector<std::string>& target) {
  ParallelText text{ReadAll(source), ReadAll(target)};
  if (text.source.size() != text.target.size() || text.source.empty()) {
    throw Error(
        ErrorKind::kInput,
        fmt::format("{} has {} lines and {} has {}, expected the same number and at least one",
                    fmt::join(source, " + "), text.source.size(), fmt::join(target, " + "),
                    text.target.size()));
  }
  return text;
}

std::vector<std::string> TranslateLines(std::shared_ptr<const Model> model,
                                        const std::vector<std::string>& lines,
                                        const RunOptions& options, int threads,
                                        const std::function<void(size_t)>& translated) {
  const auto at_once = static_cast<std::ptrdiff_t>(LinesAtOnce(threads));
  const Translator translator(std::move(model), {.threads = threads});
  TranslationOptions search;
  search.beam_size = options.beam_size;
  search.length_penalty = options.length_penalty;
  std::vector<std::string> outputs;
  for (auto next = lines.begin(); next != lines.end();) {
    const auto end = next + std::min(at_once, lines.end() - next);
    for (const Translation& translation : translator.Translate({next, end}, search))
      outputs.push_back(translation.hypotheses.at(0).text);
    translated(outputs.size());
    next = end;
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
  return scores;
}

BleuOptions BleuOf(const TrainOptions& options, const std::vector<std::string>& references) {
  BleuOptions bleu = options.run.bleu;
  bleu.lowercase = options.corpus.vocabulary.lowercase;
  if (!options.model.languages.empty()) bleu.language = options.model.languages.back();
  if (TokenizerOf(bleu.language) != BleuTokenizer::k13a) return bleu;
  if (const std::string written = LanguageByScript(references); !written.empty())
    bleu.language = written;
  return bleu;
}

}  // namespace attend
