// Several translation models that search together, each with a weight.
#ifndef ATTEND_TASKS_ENSEMBLE_H_
#define ATTEND_TASKS_ENSEMBLE_H_

#include <memory>
#include <vector>

#include "engine/activations.h"
#include "search/stepper.h"
#include "tasks/loaded_model.h"

namespace attend {

// Immutable; safe to use from many threads.
class Ensemble {
 public:
  // No weights: all have the same one. They are divided by their sum. Throws Error(kUsage) where
  // models differ in what they must share (task, vocabularies, special tokens, what stands around
  // texts, protected spans, order of the target), the engine does not run one, or weights are not
  // as many numbers of at least 0 with a sum above 0.
  Ensemble(std::vector<std::shared_ptr<const LoadedModel>> models, std::vector<double> weights);

  const std::vector<std::shared_ptr<const LoadedModel>>& models() const { return models_; }
  // An EnsembleStepper. The first model runs in the thread's activations, the others have their
  // own; threads that help the first one's products help the others', too. `activations` and the
  // ensemble must outlive it.
  std::unique_ptr<Stepper> MakeStepper(Activations* activations) const;

 private:
  std::vector<std::shared_ptr<const LoadedModel>> models_;
  std::vector<double> weights_;
};

}  // namespace attend

#endif  // ATTEND_TASKS_ENSEMBLE_H_
