#include "attend/translator.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "attend/error.h"
#include "base/per_process.h"
#include "tasks/checks.h"
#include "tasks/running_search.h"
#include "tasks/translation/alternatives.h"
#include "tasks/translation/annotated_source.h"
#include "tasks/translation/bayes_risk.h"
#include "tasks/translation/quality_estimator.h"
#include "tasks/translation/translation_options.h"
#include "tasks/translation/translation_search.h"
#include "text/ascii.h"
#include "text/visible_text.h"

namespace attend {
namespace {

// A text as the model reads it, with the terms that its output is to have.
struct ReadText {
  std::string text;
  SentenceTerms terms;
  std::optional<AnnotatedSource> annotated;
};

// Sources as ids without bos and eos; their texts, and outputs that are to begin with `prefixes`,
// for each or not at all.
struct Request {
  std::span<const std::vector<int32_t>> sources;
  std::span<const std::string> texts = {};
  std::span<const ReadText> read = {};  // the texts as the model reads them
  std::span<const std::vector<int32_t>> prefixes = {};

  // There is nothing to translate.
  bool SaysNothing(size_t i) const {
    if (!texts.empty()) return !HasLetterOrDigit(texts[i]);
    return sources[i].empty() && (prefixes.empty() || prefixes[i].empty());
  }
};

void CheckPrefixes(size_t prefixes, size_t sources) {
  if (prefixes == 0 || prefixes == sources) return;
  throw Error(ErrorKind::kUsage, fmt::format("{} prefixes for {} sources; expected none or as many",
                                             prefixes, sources));
}

CallOptions CallOptionsOf(const TranslationOptions& options) {
  return {.room = {options.batch_sentences, options.batch_tokens},
          .work = options.work,
          .stop = options.stop};
}

}  // namespace

struct Translator::Impl {
  Impl(TaskRunner made, const TranslatorOptions& options)
      : runner(std::move(made)),
        estimator(LoadEstimator(options)),
        running([this, threads = options.threads] {
          return std::make_unique<RunningSearch>(MakeSearchModel(runner), threads);
        }) {}

  TaskRunner runner;
  const std::shared_ptr<const QualityEstimator> estimator;  // null: none
  PerProcess<RunningSearch> running;

  // Reads the outputs once more, for what a search does not keep.
  void JudgeAll(const Request& request, std::span<const int64_t> items,
                const TranslationOptions& options, std::vector<Translation>* translations) const {
    std::vector<std::vector<int32_t>> sources, targets;  // of each hypothesis
    std::vector<std::string> texts;
    std::vector<Hypothesis*> hypotheses;
    for (const int64_t i : items) {
      for (Hypothesis& hypothesis : (*translations)[i].hypotheses) {
        sources.push_back(request.sources[i]);
        if (!request.read.empty()) texts.push_back(request.read[i].text);
        targets.push_back(runner.ForcedTarget(hypothesis.ids));
        hypotheses.push_back(&hypothesis);
      }
    }
    std::vector<PairScore> scores = runner.Score({sources, targets, texts},
                                                 {.alignments = options.alignments,
                                                  .alignment_layer = options.alignment_layer,
                                                  .batch_tokens = options.batch_tokens,
                                                  .stop = options.stop},
                                                 &running.Get().threads);
    for (size_t i = 0; i < scores.size(); ++i) {
      runner.Judge(scores[i], options.quality, hypotheses[i]);
    }
  }

  // Their estimates in place of the outputs' own qualities, on all threads.
  void EstimateAll(const Request& request, size_t instruction, const std::atomic<bool>* stop,
                   std::vector<Translation>* translations) const {
    struct Output {
      std::string_view source;
      Hypothesis* hypothesis;
    };
    std::vector<Output> outputs;
    for (size_t i = 0; i < translations->size(); ++i) {
      if (request.SaysNothing(i)) continue;
      for (Hypothesis& hypothesis : (*translations)[i].hypotheses)
        outputs.push_back({OwnText(runner, request.texts[i], instruction), &hypothesis});
    }
    running.Get().threads.pool.ParallelFor(std::ssize(outputs), [&](int64_t i, int /*worker*/) {
      CheckNotStopped(stop);
      const auto& [source, hypothesis] = outputs[i];
      hypothesis->quality = estimator->Estimate(source, hypothesis->text);
    });
  }

  SearchInput InputOf(const Request& request, size_t i, const TranslationOptions& options) const {
    const std::span<const int32_t> prefix =
        request.prefixes.empty() ? std::span<const int32_t>() : request.prefixes[i];
    runner.CheckLengths(static_cast<int64_t>(i) + 1, std::ssize(request.sources[i]),
                        std::ssize(prefix));
    runner.CheckTargetIds(prefix);
    const bool annotated = !request.read.empty() && request.read[i].annotated;
    SearchInput input = MakeSearchInput(runner, request.sources[i], options,
                                        annotated ? request.read[i].annotated->added : 0);
    input.prefix.assign(prefix.begin(), prefix.end());
    return input;
  }

  // Ids of the beginning of a translation.
  std::vector<int32_t> BeginningOf(const MaskedText& source, const std::string& text) const {
    return runner.target().Encode(runner.protection().MaskBeginning(source, text));
  }

  // The request's only prefix with each of the tokens that are likeliest to begin the word after
  // it, enough for `count` words; the prefix alone where none may.
  std::vector<std::vector<int32_t>> LongerByAToken(const Request& request, int64_t count,
                                                   const TranslationOptions& options) const {
    SearchInput input = InputOf(request, 0, options);
    SearchNextToken(count, &input);
    std::vector<SearchInput> inputs;
    inputs.push_back(std::move(input));
    auto found = running.Get().calls.Run(std::move(inputs), CallOptionsOf(options));
    return LongerPrefixes(runner, request.prefixes[0], MakeHypotheses(std::move(found[0])));
  }

  // `request` has the sources and prefixes of `texts`, which are masked.
  std::vector<Translation> TranslateMasked(std::span<const std::string> texts,
                                           std::span<const MaskedText> masked, Request request,
                                           const TranslationOptions& options,
                                           const TermLimits& limits = {}) const {
    runner.target();  // throws where there is none
    const std::span<const std::vector<int32_t>> plain = request.sources;
    std::vector<ReadText> read;
    std::vector<std::vector<int32_t>> ids;
    for (size_t i = 0; i < texts.size(); ++i) {
      std::vector<FoundTerm> found =
          FindTerms(runner, texts[i], options, /*protect=*/true, limits.instruction_bytes);
      auto annotated = Annotate(runner, masked[i], plain[i], found, MostSourceTokens(limits));
      ids.push_back(annotated ? annotated->ids : plain[i]);
      read.push_back({annotated ? annotated->text.text : masked[i].text,
                      TermsOf(runner, std::move(found)), std::move(annotated)});
    }
    request.texts = texts;
    request.read = read;
    request.sources = ids;
    std::vector<Translation> translations = Translate(request, options);
    for (size_t i = 0; i < translations.size(); ++i) {
      if (request.SaysNothing(i)) continue;
      translations[i].unknown_characters = runner.UnknownCharacters(masked[i].text, plain[i]);
      for (Hypothesis& hypothesis : translations[i].hypotheses) {
        if (read[i].annotated) read[i].annotated->Realign(&hypothesis);
        runner.protection().Restore(texts[i], masked[i], &hypothesis);
      }
    }
    if (options.quality && estimator != nullptr)
      EstimateAll(request, limits.instruction_bytes, options.stop, &translations);
    return translations;
  }

  int64_t MostSourceTokens(const TermLimits& limits) const {
    const int64_t most = runner.max_source_tokens();
    return limits.max_source_tokens == 0 ? most : std::min(most, limits.max_source_tokens);
  }

  void Check(const Request& request, const TranslationOptions& options) const {
    CheckTranslationOptions(options);
    if (options.alignments) runner.CheckAlignmentLayer(options.alignment_layer);
    const bool ids_alone = request.texts.empty() && !request.sources.empty();
    if (ids_alone && options.mbr != MbrUtility::kNone)
      throw Error(ErrorKind::kUsage, "mbr compares texts, but only ids are given");
    if (ids_alone && options.glossary != nullptr)
      throw Error(ErrorKind::kUsage,
                  "a glossary's terms are found in texts, but only ids are given");
    if (ids_alone && options.quality && estimator != nullptr)
      throw Error(ErrorKind::kUsage, "an estimator reads texts, but only ids are given");
    CheckPrefixes(request.prefixes.size(), request.sources.size());
    if (!request.prefixes.empty()) {
      CheckTargetPrefix(options);
      runner.CheckWritesFromTheBeginning("target_prefix");
    }
  }

  std::vector<Translation> Translate(const Request& request,
                                     const TranslationOptions& options) const {
    Check(request, options);
    const size_t count = request.sources.size();
    std::vector<SearchInput> inputs;
    std::vector<int64_t> searched;  // in order
    std::vector<Translation> translations(count);
    for (size_t i = 0; i < count; ++i) {
      if (request.SaysNothing(i)) {
        translations[i] = CopyOf(request.texts.empty() ? "" : request.texts[i], options);
        continue;
      }
      SearchInput input = InputOf(request, i, options);
      if (request.sources[i].empty() && input.prefix.empty()) {
        translations[i].hypotheses.resize(1);  // nothing that the vocabulary knows
        continue;
      }
      if (!request.read.empty()) input.terms = request.read[i].terms.paths;
      inputs.push_back(std::move(input));
      searched.push_back(static_cast<int64_t>(i));
    }
    auto found = running.Get().calls.Run(std::move(inputs), CallOptionsOf(options));
    for (size_t k = 0; k < searched.size(); ++k) {
      Translation& translation = translations[searched[k]];
      translation.hypotheses =
          MakeHypotheses(std::move(found[k]),
                         request.read.empty() ? SentenceTerms() : request.read[searched[k]].terms);
      for (Hypothesis& hypothesis : translation.hypotheses) {
        if (!request.texts.empty())
          hypothesis.text = Trimmed(runner.target().Decode(hypothesis.ids));
      }
    }
    if (options.mbr != MbrUtility::kNone) {
      running.Get().threads.pool.ParallelFor(std::ssize(searched), [&](int64_t k, int /*worker*/) {
        ChooseByUtility(options.mbr, options.n_best, &translations[searched[k]].hypotheses);
      });
    }
    if (options.alignments || options.quality) JudgeAll(request, searched, options, &translations);
    return translations;
  }
};

std::unique_ptr<Translator> Translator::Load(const std::string& directory,
                                             const TranslatorOptions& options) {
  return std::make_unique<Translator>(LoadModel(directory), options);
}

std::unique_ptr<Translator> Translator::Load(std::span<const std::string> directories,
                                             const std::vector<double>& weights,
                                             const TranslatorOptions& options) {
  std::vector<std::shared_ptr<const LoadedModel>> models;
  for (const std::string& directory : directories)
    models.push_back(LoadWith(LoadModel(directory), options));
  return std::make_unique<Translator>(std::move(models), weights, options);
}

Translator::Translator(std::shared_ptr<const Model> model, const TranslatorOptions& options)
    : Translator(LoadWith(std::move(model), options), options) {}

Translator::Translator(std::shared_ptr<const LoadedModel> loaded, const TranslatorOptions& options)
    : impl_(std::make_unique<Impl>(MakeTaskRunner(std::move(loaded), options), options)) {}

Translator::Translator(std::vector<std::shared_ptr<const LoadedModel>> models,
                       std::vector<double> weights, const TranslatorOptions& options)
    : impl_(std::make_unique<Impl>(MakeTaskRunner(std::move(models), std::move(weights), options),
                                   options)) {}

Translator::~Translator() = default;

std::vector<Translation> Translator::Translate(std::span<const std::string> texts,
                                               const TranslationOptions& options,
                                               std::span<const std::string> prefixes) const {
  std::vector<std::vector<int32_t>> sources;
  for (const std::string& text : texts) sources.push_back(Encode(text));
  return TranslateEncoded(texts, sources, options, prefixes);
}

std::vector<Translation> Translator::TranslateEncoded(std::span<const std::string> texts,
                                                      std::span<const std::vector<int32_t>> sources,
                                                      const TranslationOptions& options,
                                                      std::span<const std::string> prefixes,
                                                      const TermLimits& limits) const {
  if (texts.size() != sources.size()) {
    throw Error(ErrorKind::kUsage, fmt::format("{} texts and {} sources; expected as many of one "
                                               "as of the other",
                                               texts.size(), sources.size()));
  }
  CheckPrefixes(prefixes.size(), texts.size());
  std::vector<MaskedText> masked;
  std::vector<std::vector<int32_t>> begun;
  for (size_t i = 0; i < texts.size(); ++i) {
    masked.push_back(impl_->runner.protection().Mask(texts[i]));
    if (!prefixes.empty()) begun.push_back(impl_->BeginningOf(masked[i], prefixes[i]));
  }
  return impl_->TranslateMasked(texts, masked, {.sources = sources, .prefixes = begun}, options,
                                limits);
}

Translation Translator::Alternatives(const std::string& text, const std::string& prefix,
                                     int64_t count, const TranslationOptions& options) const {
  TranslationOptions best = options;
  best.n_best = 1;
  best.scores = true;
  CheckTranslationOptions(best);
  if (count < 1 || count > kMostBeamSize) {
    throw Error(ErrorKind::kUsage,
                fmt::format("count is {}, expected 1 to {}", count, kMostBeamSize));
  }
  if (Draws(best))
    throw Error(ErrorKind::kUsage, "alternatives are searched for; leave out sample and mbr");
  impl_->runner.CheckWritesFromTheBeginning("alternatives");
  const std::vector<int32_t> source = Encode(text);
  const MaskedText masked = impl_->runner.protection().Mask(text);
  const std::vector<int32_t> begun = impl_->BeginningOf(masked, prefix);
  const auto annotated =
      Annotate(impl_->runner, masked, source, FindTerms(impl_->runner, text, best),
               impl_->runner.max_source_tokens());
  const std::vector<int32_t>& read = annotated ? annotated->ids : source;
  const Request one{.sources = {&read, 1}, .texts = {&text, 1}, .prefixes = {&begun, 1}};
  if (one.SaysNothing(0)) return CopyOf(text, best);
  const std::vector<std::vector<int32_t>> begins = impl_->LongerByAToken(one, count, best);
  const size_t ways = begins.size();
  const std::vector<std::string> texts(ways, text);
  const std::vector<MaskedText> all_masked(ways, masked);
  const std::vector<std::vector<int32_t>> sources(ways, source);
  std::vector<Translation> found =
      impl_->TranslateMasked(texts, all_masked, {.sources = sources, .prefixes = begins}, best);
  return BestByNextWord(std::move(found), prefix, count);
}

std::vector<Translation> Translator::TranslateIds(
    std::span<const std::vector<int32_t>> sources, const TranslationOptions& options,
    std::span<const std::vector<int32_t>> prefixes) const {
  return impl_->Translate({.sources = sources, .prefixes = prefixes}, options);
}

std::vector<int32_t> Translator::Encode(const std::string& text) const {
  return impl_->runner.Encode(text);
}

std::vector<ProtectedPart> Translator::ProtectedParts(const std::string& text) const {
  std::vector<ProtectedPart> parts;
  for (const TextPart& part : impl_->runner.protection().Find(text))
    parts.push_back({part.begin, part.end});
  return parts;
}

int64_t Translator::max_input_tokens() const { return impl_->runner.max_source_tokens(); }

std::string Translator::instruction_set() const { return impl_->runner.weights().kernels.name; }

}  // namespace attend
