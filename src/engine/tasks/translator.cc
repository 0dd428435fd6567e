#include "attend/translator.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "attend/error.h"
#include "engine/tasks/translation_options.h"
#include "engine/tasks/translation_search.h"

namespace attend {
namespace {

// The sentences of one call, the longest first, for the searches of all threads.
class SharedQueue : public SearchQueue {
 public:
  // `stop`: that of TranslationOptions.
  SharedQueue(std::span<const SearchInput> inputs, std::vector<int64_t> wanted,
              const std::atomic<bool>* stop, std::vector<Translation>* translations)
      : inputs_(inputs), order_(std::move(wanted)), stop_(stop), translations_(translations) {
    std::stable_sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) {
      return inputs_[a].source.size() > inputs_[b].source.size();
    });
    for (const int64_t i : order_) source_tokens_ += inputs_[i].tokens();
  }

  int64_t size() const { return std::ssize(order_); }
  int64_t source_tokens() const { return source_tokens_; }

  bool stopped() const { return stop_ != nullptr && *stop_; }

  // None waits any longer.
  void Close() { next_ = order_.size(); }

  const SearchInput* Next() override {
    if (stopped()) return nullptr;
    const size_t at = next_++;
    return at < order_.size() ? &inputs_[order_[at]] : nullptr;
  }

  bool Wanted(const SearchInput&) override { return !stopped(); }

  void Done(const SearchInput& input, std::vector<SearchResult> results) override {
    (*translations_)[&input - inputs_.data()].hypotheses =
        MakeHypotheses(std::move(results), input.options.n_best);
  }

 private:
  std::span<const SearchInput> inputs_;
  std::vector<int64_t> order_;
  const std::atomic<bool>* stop_;
  std::vector<Translation>* translations_;
  int64_t source_tokens_ = 0;
  std::atomic<size_t> next_{0};
};

// Sources as ids without bos and eos; their texts, and outputs that are to begin with `prefixes`,
// for each or not at all.
struct Request {
  std::span<const std::vector<int32_t>> sources;
  std::span<const std::string> texts = {};
  std::span<const std::vector<int32_t>> prefixes = {};
};

}  // namespace

struct Translator::Impl {
  mutable TaskRunner runner;
  mutable std::mutex work_mutex = {};  // of options.work, which the threads share

  SearchOptions Search(const TranslationOptions& options, const SharedQueue& queue) const {
    SearchOptions search = MakeSearchOptions(runner);
    search.max_beam_size = options.beam_size;
    search.max_sentences = std::min(options.batch_sentences, queue.size());
    // Few sentences still give every thread something to do.
    search.max_source_tokens =
        std::min(options.batch_tokens, queue.source_tokens() / runner.threads() + 1);
    return search;
  }

  void Run(const TranslationOptions& options, SharedQueue* queue, Workspace* workspace) const {
    TransformerStepper stepper(&runner.transformer(), workspace);
    workspace->scratch.timer.Start(options.work != nullptr);
    try {
      BeamSearch(Search(options, *queue), queue, &stepper);
    } catch (...) {
      queue->Close();  // the call fails: other threads need not go on
      throw;
    }
    workspace->scratch.timer.Book(&WorkSeconds::search);
    if (options.work == nullptr) return;
    const std::lock_guard lock(work_mutex);
    workspace->scratch.timer.AddTo(options.work);
  }

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
    std::vector<PairScore> scores =
        runner.Score({sources, targets, texts}, {.alignments = true,
                                                 .alignment_layer = options.alignment_layer,
                                                 .batch_tokens = options.batch_tokens});
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
    std::vector<int64_t> wanted;
    for (size_t i = 0; i < sources.size(); ++i) {
      runner.CheckLengths(static_cast<int64_t>(i) + 1, std::ssize(sources[i]),
                          prefixes.empty() ? 0 : std::ssize(prefixes[i]));
      inputs[i] = MakeSearchInput(runner, sources[i], options);
      if (!prefixes.empty()) {
        runner.CheckTargetIds(prefixes[i]);
        inputs[i].prefix = prefixes[i];
      }
    }
    std::vector<Translation> translations(sources.size());
    for (size_t i = 0; i < sources.size(); ++i) {
      if (sources[i].empty() && inputs[i].prefix.empty()) {
        translations[i].hypotheses.resize(options.n_best);
        continue;
      }
      wanted.push_back(static_cast<int64_t>(i));
    }
    SharedQueue queue(inputs, std::move(wanted), options.stop, &translations);
    const auto run = [&](Workspace* workspace) { Run(options, &queue, workspace); };
    if (queue.size() == 1) {
      runner.OnOneTeam(run);
    } else {
      runner.OnEveryThread(run);
    }
    if (queue.stopped()) throw Error(ErrorKind::kRuntime, "the translation was stopped");
    if (options.alignments) AlignAll(request, options, &translations);
    return translations;
  }
};

std::unique_ptr<Translator> Translator::Load(const std::string& directory,
                                             const TranslatorOptions& options) {
  return std::make_unique<Translator>(LoadModel(directory), options);
}

Translator::Translator(std::shared_ptr<const Model> model, const TranslatorOptions& options) {
  impl_.reset(new Impl{.runner = MakeTaskRunner(std::move(model), options)});
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
