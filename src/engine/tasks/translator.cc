#include "attend/translator.h"

#include <fmt/format.h>

#include <utility>

#include "attend/error.h"
#include "base/per_process.h"
#include "engine/tasks/search_work.h"
#include "engine/tasks/translation_calls.h"
#include "engine/tasks/translation_options.h"
#include "engine/tasks/translation_search.h"

namespace attend {
namespace {

// Sources as ids without bos and eos; their texts, and outputs that are to begin with `prefixes`,
// for each or not at all.
struct Request {
  std::span<const std::vector<int32_t>> sources;
  std::span<const std::string> texts = {};
  std::span<const std::vector<int32_t>> prefixes = {};
};

}  // namespace

struct Translator::Impl {
  // What runs, in one process.
  struct Running {
    Running(const TaskRunner* runner, int count)
        : threads(count), calls(&threads.pool), search(runner, &calls, &threads.pool) {}

    TaskThreads threads;
    TranslationCalls calls;
    SearchWork search;
  };

  Impl(TaskRunner made, int threads)
      : runner(std::move(made)),
        running([this, threads] { return std::make_unique<Running>(&runner, threads); }) {}

  TaskRunner runner;
  PerProcess<Running> running;

  void AlignAll(const Request& request, const TranslationOptions& options,
                std::vector<Translation>* translations) const {
    std::vector<std::vector<int32_t>> sources, targets;  // of each hypothesis
    std::vector<std::string> texts;
    std::vector<Hypothesis*> hypotheses;
    for (size_t i = 0; i < request.sources.size(); ++i) {
      for (Hypothesis& hypothesis : (*translations)[i].hypotheses) {
        sources.push_back(request.sources[i]);
        if (!request.texts.empty()) texts.push_back(request.texts[i]);
        targets.push_back(runner.ForcedTarget(hypothesis.ids));
        hypotheses.push_back(&hypothesis);
      }
    }
    std::vector<PairScore> scores = runner.Score({sources, targets, texts},
                                                 {.alignments = true,
                                                  .alignment_layer = options.alignment_layer,
                                                  .batch_tokens = options.batch_tokens},
                                                 &running.Get().threads);
    for (size_t i = 0; i < scores.size(); ++i) {
      hypotheses[i]->alignment = std::move(scores[i].alignment);
    }
  }

  std::vector<Translation> Translate(const Request& request,
                                     const TranslationOptions& options) const {
    CheckTranslationOptions(options);
    if (options.alignments) runner.CheckAlignmentLayer(options.alignment_layer);
    const auto sources = request.sources, prefixes = request.prefixes;
    if (!prefixes.empty() && prefixes.size() != sources.size()) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("{} prefixes for {} sources; expected none or as many",
                              prefixes.size(), sources.size()));
    }
    std::vector<SearchInput> inputs(sources.size());
    for (size_t i = 0; i < sources.size(); ++i) {
      runner.CheckLengths(static_cast<int64_t>(i) + 1, std::ssize(sources[i]),
                          prefixes.empty() ? 0 : std::ssize(prefixes[i]));
      inputs[i] = MakeSearchInput(runner, sources[i], options);
      if (!prefixes.empty()) {
        runner.CheckTargetIds(prefixes[i]);
        inputs[i].prefix = prefixes[i];
      }
    }
    std::vector<Translation> translations = running.Get().calls.Run(std::move(inputs), options);
    if (options.alignments) AlignAll(request, options, &translations);
    return translations;
  }
};

std::unique_ptr<Translator> Translator::Load(const std::string& directory,
                                             const TranslatorOptions& options) {
  return std::make_unique<Translator>(LoadModel(directory), options);
}

Translator::Translator(std::shared_ptr<const Model> model, const TranslatorOptions& options) {
  impl_ = std::make_unique<Impl>(MakeTaskRunner(std::move(model), options), options.threads);
}

Translator::~Translator() = default;

std::vector<Translation> Translator::Translate(std::span<const std::string> texts,
                                               const TranslationOptions& options) const {
  std::vector<std::vector<int32_t>> sources;
  for (const std::string& text : texts) sources.push_back(Encode(text));
  return TranslateEncoded(texts, sources, options);
}

std::vector<Translation> Translator::TranslateEncoded(std::span<const std::string> texts,
                                                      std::span<const std::vector<int32_t>> sources,
                                                      const TranslationOptions& options) const {
  if (texts.size() != sources.size()) {
    throw Error(ErrorKind::kUsage, fmt::format("{} texts and {} sources; expected as many of one "
                                               "as of the other",
                                               texts.size(), sources.size()));
  }
  const Vocabulary& target = impl_->runner.target();
  std::vector<Translation> translations = impl_->Translate({sources, texts}, options);
  for (Translation& translation : translations) {
    for (Hypothesis& hypothesis : translation.hypotheses) {
      hypothesis.text = target.Decode(hypothesis.ids);
    }
  }
  return translations;
}

std::vector<Translation> Translator::TranslateIds(
    std::span<const std::vector<int32_t>> sources, const TranslationOptions& options,
    std::span<const std::vector<int32_t>> prefixes) const {
  return impl_->Translate({.sources = sources, .prefixes = prefixes}, options);
}

std::vector<int32_t> Translator::Encode(const std::string& text) const {
  return impl_->runner.source().Encode(text);
}

int64_t Translator::max_input_tokens() const { return impl_->runner.max_source_tokens(); }

std::string Translator::instruction_set() const {
  return impl_->runner.transformer().kernels().name;
}

}  // namespace attend
