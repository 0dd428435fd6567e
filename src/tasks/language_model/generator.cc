#include "attend/generator.h"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "attend/error.h"
#include "base/per_process.h"
#include "model/model_directory.h"
#include "tasks/checks.h"
#include "tasks/language_model/generation_options.h"
#include "tasks/language_model/generation_search.h"
#include "tasks/language_model/text_scoring.h"
#include "tasks/loaded_model.h"
#include "tasks/running_search.h"
#include "tasks/task_names.h"
#include "text/newlines.h"

namespace attend {

struct Generator::Impl {
  Impl(std::shared_ptr<const LoadedModel> made, int threads)
      : loaded(std::move(made)), running([this, threads] {
          return std::make_unique<RunningSearch>(MakeSearchModel(loaded->weights), threads);
        }) {}

  const std::shared_ptr<const LoadedModel> loaded;
  PerProcess<RunningSearch> running;

  std::vector<SearchInput> InputsOf(std::span<const std::vector<int32_t>> prompts,
                                    const GenerationOptions& options) const {
    std::vector<SearchInput> inputs;
    for (size_t i = 0; i < prompts.size(); ++i) {
      inputs.push_back(
          MakeSearchInput(loaded->weights, prompts[i], options, fmt::format("prompt {}", i + 1)));
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
  const bool wanted = sink != nullptr || !options.stop.empty();
  if (wanted) loaded->target();  // throws where there is none
  std::mutex mutex;              // of the sink
  std::vector<GrowingOutputs> outputs;
  outputs.reserve(prompts.size());
  for (size_t i = 0; i < prompts.size(); ++i) {
    GrowingOutputs::Show show;
    if (sink != nullptr) {
      show = [&mutex, &sink, i](int64_t output, std::string piece) {
        const std::lock_guard lock(mutex);
        sink({static_cast<int64_t>(i), output, std::move(piece)});
      };
    }
    outputs.emplace_back(loaded->target_vocabulary.get(), prompts[i], options, std::move(show));
  }
  CallOptions call{.room = {options.batch_sentences, options.batch_tokens},
                   .stop = options.stop_call};
  if (wanted) {
    call.grew = [&](size_t prompt, const Growth& growth) { return outputs[prompt].Grow(growth); };
  }
  auto found = running.Get().calls.Run(InputsOf(prompts, options), call);
  std::vector<std::vector<Generation>> all;
  for (size_t i = 0; i < found.size(); ++i) all.push_back(outputs[i].End(std::move(found[i])));
  if (options.beam_size > 1) AddTokenScores(prompts, &all);
  return all;
}

std::unique_ptr<Generator> Generator::Load(const std::string& directory,
                                           const GeneratorOptions& options) {
  return std::make_unique<Generator>(LoadModel(directory), options);
}

Generator::Generator(std::shared_ptr<const Model> model, const GeneratorOptions& options)
    : Generator(LoadWith(std::move(model), options), options.threads) {}

Generator::Generator(std::shared_ptr<const LoadedModel> loaded, int threads) {
  CheckTask(loaded->config(), {"language_model"});
  MakeSearchModel(loaded->weights);  // throws where it can't be searched
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

int64_t Generator::max_prompt_tokens() const { return MaxTokens(*impl_->loaded->config().decoder); }

std::string Generator::instruction_set() const { return impl_->loaded->weights.kernels.name; }

}  // namespace attend
