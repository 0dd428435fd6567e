#include "attend/translator.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>

#include "attend/error.h"
#include "engine/search/beam_search.h"
#include "engine/tasks/task_runner.h"
#include "engine/tasks/translation_options.h"
#include "model/quantize.h"

namespace attend {
namespace {

// Behind every hypothesis that there is.
Hypothesis NoOutput() {
  constexpr double kWorst = -std::numeric_limits<double>::infinity();
  return {.score = kWorst, .log_probability = kWorst, .finished = false};
}

// The sentences of one call, the longest first, for the searches of all threads.
class SharedQueue : public SearchQueue {
 public:
  SharedQueue(std::span<const SearchInput> inputs, std::vector<int64_t> wanted, int64_t n_best,
              std::vector<Translation>* translations)
      : inputs_(inputs), order_(std::move(wanted)), n_best_(n_best), translations_(translations) {
    std::stable_sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) {
      return inputs_[a].source.size() > inputs_[b].source.size();
    });
    for (const int64_t i : order_) source_tokens_ += inputs_[i].tokens();
  }

  int64_t size() const { return std::ssize(order_); }
  int64_t source_tokens() const { return source_tokens_; }

  // None waits any longer.
  void Close() { next_ = order_.size(); }

  const SearchInput* Next() override {
    const size_t at = next_++;
    return at < order_.size() ? &inputs_[order_[at]] : nullptr;
  }

  void Done(const SearchInput& input, std::vector<SearchResult> results) override {
    std::vector<Hypothesis>& hypotheses = (*translations_)[&input - inputs_.data()].hypotheses;
    for (SearchResult& result : results) {
      Hypothesis hypothesis;
      hypothesis.ids = std::move(result.ids);
      hypothesis.score = result.score;
      hypothesis.log_probability = result.log_probability;
      hypothesis.finished = result.finished;
      hypotheses.push_back(std::move(hypothesis));
    }
    // A tiny vocabulary may have fewer outputs than asked for.
    hypotheses.resize(n_best_, hypotheses.empty() ? NoOutput() : Hypothesis(hypotheses.back()));
  }

 private:
  std::span<const SearchInput> inputs_;
  std::vector<int64_t> order_;
  int64_t n_best_;
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

  std::vector<int32_t> Forbidden(const TranslationOptions& options) const {
    const SpecialIds& ids = runner.special_ids();
    std::vector<int32_t> forbidden = {static_cast<int32_t>(ids.pad), static_cast<int32_t>(ids.bos)};
    if (!options.allow_unknown) forbidden.push_back(static_cast<int32_t>(ids.unk));
    return forbidden;
  }

  int64_t MaxLength(const TranslationOptions& options, int64_t source_length) const {
    int64_t length = options.max_length > 0 ? options.max_length
                                            : std::max(source_length + 50, options.min_length + 1);
    const StackConfig& decoder = *runner.transformer().config().decoder;
    if (decoder.positions == PositionKind::kLearned) {
      length = std::min(length, decoder.max_positions - decoder.position_offset);
    }
    return std::max<int64_t>(length, 1);
  }

  SearchOptions Search(const TranslationOptions& options, const SharedQueue& queue) const {
    SearchOptions search;
    search.beam_size = options.beam_size;
    search.n_best = options.n_best;
    search.length_penalty = options.length_penalty;
    search.min_length = options.min_length;
    search.bos = static_cast<int32_t>(runner.special_ids().bos);
    search.eos = static_cast<int32_t>(runner.special_ids().eos);
    search.max_sentences = std::min(options.batch_sentences, queue.size());
    // Few sentences still give every thread something to do.
    search.max_source_tokens =
        std::min(options.batch_tokens, queue.source_tokens() / runner.threads() + 1);
    return search;
  }

  void Run(const TranslationOptions& options, SharedQueue* queue, Workspace* workspace) const {
    TransformerStepper stepper(&runner.transformer(), Forbidden(options), workspace);
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
        // One that was cut where learned positions end has no position for its last piece.
        targets.push_back(hypothesis.ids);
        targets.back().resize(std::min(std::ssize(hypothesis.ids), runner.max_target_tokens()));
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
      inputs[i].source = runner.EncoderInput(sources[i]);
      inputs[i].max_length = MaxLength(options, std::ssize(sources[i]));
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
    SharedQueue queue(inputs, std::move(wanted), options.n_best, &translations);
    const auto run = [&](Workspace* workspace) { Run(options, &queue, workspace); };
    if (queue.size() == 1) {
      runner.OnOneTeam(run);
    } else {
      runner.OnEveryThread(run);
    }
    if (options.alignments) AlignAll(request, options, &translations);
    return translations;
  }
};

std::unique_ptr<Translator> Translator::Load(const std::string& directory,
                                             const TranslatorOptions& options) {
  return std::make_unique<Translator>(LoadModel(directory), options);
}

Translator::Translator(std::shared_ptr<const Model> model, const TranslatorOptions& options) {
  std::shared_ptr<const Shortlist> shortlist;
  if (!options.shortlist.empty()) {
    shortlist = std::make_shared<Shortlist>(LoadShortlist(options.shortlist, *model));
  }
  impl_.reset(
      new Impl{.runner = TaskRunner(WithWeights(std::move(model), options.type), options.threads,
                                    options.instruction_set, std::move(shortlist))});
}

Translator::~Translator() = default;

std::vector<Translation> Translator::Translate(std::span<const std::string> texts,
                                               const TranslationOptions& options) const {
  std::vector<std::vector<int32_t>> sources;
  for (const std::string& text : texts) sources.push_back(Encode(text));
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
