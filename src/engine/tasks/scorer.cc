#include "attend/scorer.h"

#include "engine/tasks/task_runner.h"

namespace attend {

struct Scorer::Impl {
  mutable TaskRunner runner;
};

std::unique_ptr<Scorer> Scorer::Load(const std::string& directory, int threads) {
  return std::make_unique<Scorer>(LoadModel(directory), threads);
}

Scorer::Scorer(std::shared_ptr<const Model> model, int threads, const std::string& instruction_set)
    : impl_(new Impl{TaskRunner(std::move(model), threads, instruction_set)}) {}

Scorer::~Scorer() = default;

std::vector<PairScore> Scorer::Score(std::span<const std::string> sources,
                                     std::span<const std::string> targets,
                                     const ScoreOptions& options) const {
  std::vector<std::vector<int32_t>> source_ids, target_ids;
  for (const std::string& text : sources) source_ids.push_back(impl_->runner.source().Encode(text));
  for (const std::string& text : targets) target_ids.push_back(impl_->runner.target().Encode(text));
  return impl_->runner.Score({source_ids, target_ids, sources, targets}, options);
}

std::vector<PairScore> Scorer::ScoreIds(std::span<const std::vector<int32_t>> sources,
                                        std::span<const std::vector<int32_t>> targets,
                                        const ScoreOptions& options) const {
  return impl_->runner.Score({sources, targets}, options);
}

}  // namespace attend
