#include "attend/scorer.h"

#include "base/per_process.h"
#include "engine/tasks/task_runner.h"

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
    : impl_(new Impl{
          TaskRunner(std::move(model), instruction_set),
          PerProcess<TaskThreads>([threads] { return std::make_unique<TaskThreads>(threads); })}) {}

Scorer::~Scorer() = default;

std::vector<PairScore> Scorer::Score(std::span<const std::string> sources,
                                     std::span<const std::string> targets,
                                     const ScoreOptions& options) const {
  std::vector<std::vector<int32_t>> source_ids, target_ids;
  for (const std::string& text : sources) source_ids.push_back(impl_->runner.source().Encode(text));
  for (const std::string& text : targets) target_ids.push_back(impl_->runner.target().Encode(text));
  return impl_->Score({source_ids, target_ids, sources, targets}, options);
}

std::vector<PairScore> Scorer::ScoreIds(std::span<const std::vector<int32_t>> sources,
                                        std::span<const std::vector<int32_t>> targets,
                                        const ScoreOptions& options) const {
  return impl_->Score({sources, targets}, options);
}

}  // namespace attend
