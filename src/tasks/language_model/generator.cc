#include "attend/generator.h"

#include <fmt/format.h>

#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "attend/error.h"
#include "base/per_process.h"
#include "model/model_directory.h"
#include "tasks/checks.h"
#include "tasks/language_model/generation_options.h"
#include "tasks/language_model/growing_text.h"
#include "tasks/language_model/text_scoring.h"
#include "tasks/loaded_model.h"
#include "tasks/running_search.h"
#include "tasks/task_names.h"
#include "text/newlines.h"

namespace attend {
namespace {

SearchModel SearchModelOf(const Weights& weights) {
  const SpecialIds& ids = weights.config().special_ids;
  return {&weights,
          nullptr,
          {.max_beam_size = kMostOutputs,
           .bos = static_cast<int32_t>(ids.bos),
           .eos = static_cast<int32_t>(ids.eos)}};
}

SearchInput InputOf(std::span<const int32_t> prompt, int64_t room, int32_t bos,
                    const GenerationOptions& options) {
  SearchInput input;
  input.prompt.push_back(bos);
  input.prompt.insert(input.prompt.end(), prompt.begin(), prompt.end());
  input.max_length = std::min(options.max_tokens, room);
  input.options.min_length = options.min_tokens;
  input.options.allow_unknown = options.allow_unknown;
  if (options.beam_size == 1) {
    input.sample = SampleOptions{.sampling = {.repetition_penalty = options.repetition_penalty,
                                              .temperature = options.temperature,
                                              .top_k = options.top_k,
                                              .top_p = options.top_p,
                                              .min_p = options.min_p},
                                 .count = options.n,
                                 .seed = static_cast<uint64_t>(options.seed)};
    return input;
  }
  input.options.beam_size = options.beam_size;
  input.options.n_best = options.n;
  input.options.length_penalty = options.length_penalty;
  return input;
}

// The texts of a call's outputs as they grow. Each output grows on one thread.
class CallTexts {
 public:
  CallTexts(const Vocabulary& vocabulary, std::span<const std::vector<int32_t>> prompts,
            const GenerationOptions& options, const PieceSink& sink)
      : options_(options), sink_(sink), texts_(prompts.size()) {
    for (const std::vector<int32_t>& prompt : prompts) {
      continuations_.emplace_back(&vocabulary, prompt);
    }
    for (auto& outputs : texts_) outputs.resize(options.n);
  }

  // Whether anybody wants to know of each token.
  bool Wanted() const { return sink_ != nullptr || !options_.stop.empty(); }

  bool Grow(size_t prompt, const Growth& growth) {
    GrowingText& text = texts_[prompt][growth.sample];
    const bool goes_on = text.Grow(continuations_[prompt].Decode(growth.ids), options_.stop);
    Show(prompt, growth.sample, /*ended=*/false);
    return goes_on;
  }

  // The text of an output that has ended, and how.
  void End(size_t prompt, size_t output, Generation* generation) {
    if (texts_[prompt].size() <= output) texts_[prompt].resize(output + 1);
    GrowingText& text = texts_[prompt][output];
    if (!text.Grow(continuations_[prompt].Decode(generation->ids), options_.stop)) {
      generation->ending = Ending::kStop;
    }
    Show(prompt, static_cast<int64_t>(output), /*ended=*/true);
    generation->text = text.text();
  }

 private:
  void Show(size_t prompt, int64_t output, bool ended) {
    if (sink_ == nullptr) return;
    std::string piece = texts_[prompt][output].Show(options_.stop, ended);
    if (piece.empty()) return;
    const std::lock_guard lock(mutex_);
    sink_({static_cast<int64_t>(prompt), output, std::move(piece)});
  }

  const GenerationOptions& options_;
  const PieceSink& sink_;
  std::vector<Continuation> continuations_;      // by prompt
  std::vector<std::vector<GrowingText>> texts_;  // by prompt and output
  std::mutex mutex_;                             // of the sink
};

}  // namespace

struct Generator::Impl {
  Impl(std::shared_ptr<const LoadedModel> made, int threads)
      : loaded(std::move(made)), running([this, threads] {
          return std::make_unique<RunningSearch>(SearchModelOf(loaded->weights), threads);
        }) {}

  const std::shared_ptr<const LoadedModel> loaded;
  PerProcess<RunningSearch> running;

  int64_t max_prompt_tokens() const { return MaxTokens(*loaded->config().decoder); }

  std::vector<SearchInput> InputsOf(std::span<const std::vector<int32_t>> prompts,
                                    const GenerationOptions& options) const {
    constexpr int64_t kNoBound = std::numeric_limits<int64_t>::max();
    const int64_t most = max_prompt_tokens();
    const auto bos = static_cast<int32_t>(loaded->config().special_ids.bos);
    std::vector<SearchInput> inputs;
    for (size_t i = 0; i < prompts.size(); ++i) {
      const int64_t tokens = std::ssize(prompts[i]);
      CheckIds(prompts[i], loaded->config().target_vocab_size);
      if (tokens > most) {
        throw Error(ErrorKind::kInput,
                    fmt::format("prompt {} has {} tokens, expected at most {}, the model's learned "
                                "positions; shorten it",
                                i + 1, tokens, most));
      }
      const int64_t room = most == kNoBound ? most : most + 1 - tokens;
      inputs.push_back(InputOf(prompts[i], room, bos, options));
    }
    return inputs;
  }

  // Of a beam's outputs, which the search does not keep.
  void AddTokenScores(std::span<const std::vector<int32_t>> prompts,
                      std::vector<std::vector<Generation>>* all) const;

  std::vector<std::vector<Generation>> Generate(std::span<const std::vector<int32_t>> prompts,
                                                const GenerationOptions& options,
                                                const PieceSink& sink) const;
};

void Generator::Impl::AddTokenScores(std::span<const std::vector<int32_t>> prompts,
                                     std::vector<std::vector<Generation>>* all) const {
  std::vector<std::vector<int32_t>> texts;
  for (size_t i = 0; i < prompts.size(); ++i) {
    for (const Generation& generation : (*all)[i]) {
      texts.push_back(prompts[i]);
      texts.back().insert(texts.back().end(), generation.ids.begin(), generation.ids.end());
    }
  }
  const std::vector<TextScore> scores =
      ScoreTexts(loaded->weights, texts, {}, &running.Get().threads);
  auto score = scores.begin();
  for (size_t i = 0; i < prompts.size(); ++i) {
    for (Generation& generation : (*all)[i]) {
      const auto begin = score++->token_log_probabilities.begin() + std::ssize(prompts[i]);
      const int64_t count =
          std::ssize(generation.ids) + (generation.ending == Ending::kText ? 1 : 0);
      generation.token_log_probabilities.assign(begin, begin + count);
    }
  }
}

std::vector<std::vector<Generation>> Generator::Impl::Generate(
    std::span<const std::vector<int32_t>> prompts, const GenerationOptions& options,
    const PieceSink& sink) const {
  CheckGenerationOptions(options);
  std::optional<CallTexts> texts;
  if (loaded->target_vocabulary != nullptr) {
    texts.emplace(*loaded->target_vocabulary, prompts, options, sink);
  } else if (!options.stop.empty() || sink != nullptr) {
    loaded->target();  // throws
  }
  CallOptions call{.room = {options.batch_sentences, options.batch_tokens},
                   .stop = options.stop_call};
  if (texts && texts->Wanted()) {
    call.grew = [&](size_t prompt, const Growth& growth) { return texts->Grow(prompt, growth); };
  }
  auto found = running.Get().calls.Run(InputsOf(prompts, options), call);
  std::vector<std::vector<Generation>> all(prompts.size());
  for (size_t i = 0; i < all.size(); ++i) {
    for (SearchResult& result : found[i]) {
      all[i].push_back({.ids = std::move(result.ids),
                        .token_log_probabilities = std::move(result.token_log_probabilities),
                        .log_probability = result.log_probability,
                        .ending = result.finished ? Ending::kText : Ending::kLength});
      if (texts) texts->End(i, all[i].size() - 1, &all[i].back());
    }
  }
  if (options.beam_size > 1) AddTokenScores(prompts, &all);
  return all;
}

std::unique_ptr<Generator> Generator::Load(const std::string& directory,
                                           const GeneratorOptions& options) {
  return std::make_unique<Generator>(LoadModel(directory), options);
}

Generator::Generator(std::shared_ptr<const Model> model, const GeneratorOptions& options)
    : Generator(attend::Load(std::move(model),
                             {.type = options.type, .instruction_set = options.instruction_set}),
                options.threads) {}

Generator::Generator(std::shared_ptr<const LoadedModel> loaded, int threads) {
  CheckTask(loaded->config(), "language_model");
  if (!loaded->weights.vocabulary_head || loaded->weights.encoder) {
    throw Error(ErrorKind::kUsage,
                "a language model is a decoder alone with a vocabulary head; this model is not");
  }
  impl_ = std::make_unique<Impl>(std::move(loaded), threads);
}

Generator::~Generator() = default;

std::vector<std::vector<Generation>> Generator::Generate(std::span<const std::string> prompts,
                                                         const GenerationOptions& options,
                                                         const PieceSink& sink) const {
  std::vector<std::vector<int32_t>> ids;
  for (const std::string& prompt : prompts) ids.push_back(Encode(prompt));
  return impl_->Generate(ids, options, sink);
}

std::vector<std::vector<Generation>> Generator::GenerateIds(
    std::span<const std::vector<int32_t>> prompts, const GenerationOptions& options,
    const PieceSink& sink) const {
  return impl_->Generate(prompts, options, sink);
}

std::vector<TextScore> Generator::Score(std::span<const std::string> texts,
                                        const TextScoreOptions& options) const {
  std::vector<std::vector<int32_t>> ids;
  for (const std::string& text : texts) ids.push_back(Encode(text));
  return ScoreIds(ids, options);
}

std::vector<TextScore> Generator::ScoreIds(std::span<const std::vector<int32_t>> texts,
                                           const TextScoreOptions& options) const {
  CheckTextScoreOptions(options);
  for (const std::vector<int32_t>& ids : texts) {
    CheckIds(ids, impl_->loaded->config().target_vocab_size);
  }
  return ScoreTexts(impl_->loaded->weights, texts, options, &impl_->running.Get().threads);
}

std::vector<int32_t> Generator::Encode(const std::string& text) const {
  return EncodeText(impl_->loaded->target(), text);
}

int64_t Generator::max_prompt_tokens() const { return impl_->max_prompt_tokens(); }

std::string Generator::instruction_set() const { return impl_->loaded->weights.kernels.name; }

}  // namespace attend
