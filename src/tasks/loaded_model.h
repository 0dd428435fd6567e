// What stands behind attend/loaded_model.h.
#ifndef ATTEND_TASKS_LOADED_MODEL_H_
#define ATTEND_TASKS_LOADED_MODEL_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "attend/loaded_model.h"
#include "attend/vocabulary.h"
#include "base/fields.h"
#include "engine/weights.h"
#include "model/adapted_model.h"
#include "search/stepper.h"

namespace attend {

// Makes what one thread searches with.
using MakeStepper = std::function<std::unique_ptr<Stepper>()>;

struct LoadedModel {
  // `options.adapter` is not read.
  LoadedModel(std::shared_ptr<const Model> given, const LoadOptions& options);
  // Shares what it can with the base; `where` opens messages about the adapter. Throws
  // Error(kUsage) for a base that has an adapter.
  LoadedModel(std::shared_ptr<const LoadedModel> of_base,
              const std::shared_ptr<const Adapter>& adapter, const std::string& where);

  // Of any architecture: searches run over these steppers, in place of the engine.
  LoadedModel(std::shared_ptr<const Model> given, MakeStepper make);

  // Throws Error(kUsage) where the engine can't run the model.
  void CheckEngineRuns() const;
  const Model& model() const { return *weights.model; }
  const ModelConfig& config() const { return weights.config(); }
  // Throws Error(kUsage) for a model without one.
  const Vocabulary& source() const;
  const Vocabulary& target() const;
  // The model of these vocabularies, which holds their bytes.
  const Model& with_vocabularies() const { return base == nullptr ? model() : base->model(); }

  const std::shared_ptr<const LoadedModel> base;  // of a model with an adapter; else null
  const std::shared_ptr<const Model> stored;  // before its weights took the type that they run as
  const Weights weights;
  std::shared_ptr<const Vocabulary> source_vocabulary, target_vocabulary;  // null: none
  const MakeStepper make_stepper;                                          // null: the engine's

 private:
  LoadedModel(std::shared_ptr<const Model> given, const LoadOptions& options, MakeStepper make);
};

// With the type and the instruction set that the options of a task's class name.
template <class Options>
std::shared_ptr<const LoadedModel> LoadWith(std::shared_ptr<const Model> model,
                                            const Options& options) {
  return Load(std::move(model), {.type = options.type, .instruction_set = options.instruction_set});
}

// Declare the options `type` and `adapter` of whatever loads a model.
FieldList TypeField(WeightType* type);
FieldList AdapterField(std::string* adapter);

}  // namespace attend

#endif  // ATTEND_TASKS_LOADED_MODEL_H_
