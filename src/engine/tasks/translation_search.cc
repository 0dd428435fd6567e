#include "engine/tasks/translation_search.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/tasks/translation_options.h"
#include "model/quantize.h"

namespace attend {
namespace {

int64_t MaxLength(const TaskRunner& runner, int64_t source_length,
                  const TranslationOptions& options) {
  const int64_t length = options.max_length > 0
                             ? options.max_length
                             : std::max(source_length + 50, options.min_length + 1);
  return MaxOutput(*runner.transformer().config().decoder, length);
}

// Behind every hypothesis that there is.
Hypothesis NoOutput() {
  constexpr double kWorst = -std::numeric_limits<double>::infinity();
  return {.score = kWorst, .log_probability = kWorst, .finished = false};
}

}  // namespace

TaskRunner MakeTaskRunner(std::shared_ptr<const Model> model, const TranslatorOptions& options) {
  std::shared_ptr<const Shortlist> shortlist;
  if (!options.shortlist.empty()) {
    shortlist = std::make_shared<Shortlist>(LoadShortlist(options.shortlist, *model));
  }
  return {WithWeights(std::move(model), options.type), options.instruction_set,
          std::move(shortlist)};
}

SearchInput MakeSearchInput(const TaskRunner& runner, const std::vector<int32_t>& ids,
                            const TranslationOptions& options) {
  SearchInput input;
  input.source = runner.EncoderInput(ids);
  input.max_length = MaxLength(runner, std::ssize(ids), options);
  input.options.beam_size = options.beam_size;
  input.options.n_best = options.n_best;
  input.options.length_penalty = options.length_penalty;
  input.options.min_length = options.min_length;
  input.options.allow_unknown = options.allow_unknown;
  input.options.scores = options.scores;
  return input;
}

SearchOptions MakeSearchOptions(const TaskRunner& runner) {
  SearchOptions search;
  search.max_beam_size = kMostBeamSize;
  search.bos = static_cast<int32_t>(runner.special_ids().bos);
  search.eos = static_cast<int32_t>(runner.special_ids().eos);
  return search;
}

std::vector<Hypothesis> MakeHypotheses(std::vector<SearchResult> results, int64_t n_best) {
  std::vector<Hypothesis> hypotheses;
  for (SearchResult& result : results) {
    Hypothesis hypothesis;
    hypothesis.ids = std::move(result.ids);
    hypothesis.score = result.score;
    hypothesis.log_probability = result.log_probability;
    hypothesis.finished = result.finished;
    hypotheses.push_back(std::move(hypothesis));
  }
  // A tiny vocabulary may have fewer outputs than asked for.
  hypotheses.resize(n_best, hypotheses.empty() ? NoOutput() : Hypothesis(hypotheses.back()));
  return hypotheses;
}

}  // namespace attend
