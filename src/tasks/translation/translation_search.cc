#include "tasks/translation/translation_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tasks/translation/quality.h"
#include "tasks/translation/translation_options.h"
#include "text/lines.h"
#include "text/text_parts.h"
#include "text/utf8.h"

namespace attend {
namespace {

// What nearly all targets of training keep within, and a bit more.
int64_t UsualMost(const TrainingText& text, int64_t source_length) {
  constexpr double kMost = 100000, kSpare = 20;
  const double most =
      std::ceil(static_cast<double>(source_length + 1) * text.target_ratio.p99) + kSpare;
  return static_cast<int64_t>(std::min(most, kMost));
}

// Outputs that are drawn need no placeholders, and see that they show something by their length.
void MakeSampled(const TranslationOptions& options, SearchInput* input) {
  input->once.clear();
  input->options.min_length = std::max<int64_t>(options.min_length, input->options.must_show);
  input->sample = SampleOptions{.sampling = {.repetition_penalty = options.repetition_penalty,
                                             .temperature = options.temperature,
                                             .top_k = options.top_k,
                                             .top_p = options.top_p},
                                .count = options.sample ? options.n_best : options.mbr_samples,
                                .seed = static_cast<uint64_t>(options.seed)};
}

// Behind every hypothesis that there is.
Hypothesis NoOutput() {
  constexpr double kWorst = -std::numeric_limits<double>::infinity();
  return {.score = kWorst, .log_probability = kWorst, .finished = false};
}

}  // namespace

TaskRunner MakeTaskRunner(std::shared_ptr<const LoadedModel> loaded,
                          const TranslatorOptions& options) {
  std::shared_ptr<const Shortlist> shortlist;
  if (!options.shortlist.empty()) {
    shortlist =
        std::make_shared<Shortlist>(LoadShortlist(options.shortlist, loaded->with_vocabularies()));
  }
  return TaskRunner(std::move(loaded), std::move(shortlist), options.protect);
}

int64_t MaxLength(const TaskRunner& runner, int64_t source_length,
                  const TranslationOptions& options) {
  int64_t length = options.max_length;
  if (length == 0) {
    length = std::max(source_length + kExtraLength, options.min_length + 1);
    if (const auto& text = runner.training_text())
      length = std::max(length, UsualMost(*text, source_length));
  }
  return runner.config().MaxOutput(length);
}

SearchInput MakeSearchInput(const TaskRunner& runner, const std::vector<int32_t>& ids,
                            const TranslationOptions& options) {
  SearchInput input;
  input.source = runner.EncoderInput(ids);
  input.once = runner.protection().Once(ids);
  input.max_length = MaxLength(runner, std::ssize(ids), options);
  input.options.beam_size = options.beam_size;
  input.options.n_best = options.n_best;
  input.options.length_penalty = options.length_penalty;
  input.options.min_length = options.min_length;
  input.options.must_show = runner.HasWords(ids);
  input.options.allow_unknown = options.allow_unknown;
  input.options.scores = options.scores;
  input.options.groups = options.beam_groups;
  input.options.diversity = options.diversity;
  input.options.no_repeat_ngram = options.no_repeat_ngram;
  input.options.repetition_penalty = options.repetition_penalty;
  if (Draws(options)) MakeSampled(options, &input);
  return input;
}

SearchModel MakeSearchModel(const TaskRunner& runner) {
  SearchOptions search;
  search.max_beam_size = kMostBeamSize;
  search.prompt = runner.config().TargetFrame().begin;
  search.eos = static_cast<int32_t>(runner.special_ids().eos);
  search.blank = runner.blank();
  if (!runner.blank().empty()) {
    search.text_of = [&vocabulary = runner.target()](std::span<const int32_t> ids) {
      return WithSingleSpaces(vocabulary.Decode(ids));
    };
  }
  search.placeholders = runner.protection().ids();
  return {&runner.weights(), runner.shortlist(), std::move(search), runner.make_stepper()};
}

std::vector<Hypothesis> MakeHypotheses(std::vector<SearchResult> results) {
  std::vector<Hypothesis> hypotheses;
  for (SearchResult& result : results) {
    Hypothesis hypothesis;
    hypothesis.ids = std::move(result.ids);
    hypothesis.score = result.score;
    hypothesis.log_probability = result.log_probability;
    hypothesis.finished = result.finished;
    hypotheses.push_back(std::move(hypothesis));
  }
  if (hypotheses.empty()) hypotheses.push_back(NoOutput());
  return hypotheses;
}

Translation CopyOf(const std::string& text, const TranslationOptions& options) {
  Hypothesis copy;
  copy.text = RepairUtf8(text);
  const int64_t words = CountWords(text);
  for (int64_t word = 0; options.alignments && word < words; ++word)
    copy.alignment.push_back({word, word});
  if (options.quality) SetCertain(words, &copy);
  return {{std::move(copy)}};
}

}  // namespace attend
