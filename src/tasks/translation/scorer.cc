#include "attend/scorer.h"

#include <algorithm>

#include "base/per_process.h"
#include "model/model_directory.h"
#include "tasks/translation/task_runner.h"

namespace attend {

struct Scorer::Impl {
  TaskRunner runner;
  PerProcess<TaskThreads> threads;

  std::vector<PairScore> Score(const ScoredPairs& pairs, const ScoreOptions& options) const {
    return runner.Score(pairs, options, &threads.Get());
  }
};

std::unique_ptr<Scorer> Scorer::Load(const std::string& directory, int threads) {
  return std::make_unique<Scorer>(LoadModel(directory), threads);
}

Scorer::Scorer(std::shared_ptr<const Model> model, int threads, const std::string& instruction_set)
    : Scorer(attend::Load(std::move(model), {.instruction_set = instruction_set}), threads) {}

Scorer::Scorer(std::shared_ptr<const LoadedModel> loaded, int threads)
    : impl_(new Impl{TaskRunner(std::move(loaded)), PerProcess<TaskThreads>([threads] {
                       return std::make_unique<TaskThreads>(threads);
                     })}) {}

Scorer::~Scorer() = default;

std::vector<PairScore> Scorer::Score(std::span<const std::string> sources,
                                     std::span<const std::string> targets,
                                     const ScoreOptions& options) const {
  const TaskRunner& runner = impl_->runner;
  std::vector<std::string> read_sources(sources.begin(), sources.end()),
      read_targets(targets.begin(), targets.end());
  std::vector<PairPlaces> places(sources.size());
  std::vector<std::vector<int32_t>> source_ids, target_ids;
  for (size_t i = 0; i < std::min(sources.size(), targets.size()); ++i)
    places[i] = runner.protection().MaskPair(&read_sources[i], &read_targets[i]);
  for (const std::string& text : read_sources) source_ids.push_back(runner.source().Encode(text));
  for (const std::string& text : read_targets) target_ids.push_back(runner.target().Encode(text));
  std::vector<PairScore> scores =
      impl_->Score({source_ids, target_ids, read_sources, read_targets}, options);
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i].alignment.empty() || places[i].source.empty()) continue;
    const auto source_words = WordsAfter(read_sources[i], sources[i], places[i].source),
               target_words = WordsAfter(read_targets[i], targets[i], places[i].target);
    for (AlignmentLink& link : scores[i].alignment)
      link = {source_words.at(link.source), target_words.at(link.target)};
  }
  return scores;
}

std::vector<PairScore> Scorer::ScoreIds(std::span<const std::vector<int32_t>> sources,
                                        std::span<const std::vector<int32_t>> targets,
                                        const ScoreOptions& options) const {
  return impl_->Score({sources, targets}, options);
}

}  // namespace attend
