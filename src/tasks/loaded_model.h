// What stands behind attend/loaded_model.h.
#ifndef ATTEND_TASKS_LOADED_MODEL_H_
#define ATTEND_TASKS_LOADED_MODEL_H_

#include <memory>
#include <string>

#include "attend/loaded_model.h"
#include "attend/vocabulary.h"
#include "base/fields.h"
#include "engine/weights.h"

namespace attend {

struct LoadedModel {
  LoadedModel(std::shared_ptr<const Model> model, const std::string& instruction_set);

  const Model& model() const { return *weights.model; }
  const ModelConfig& config() const { return weights.config(); }
  // Throws Error(kUsage) for a model without one.
  const Vocabulary& source() const;
  const Vocabulary& target() const;

  const Weights weights;
  std::shared_ptr<const Vocabulary> source_vocabulary, target_vocabulary;  // null: none
};

// Declares the option `type` of whatever loads a model.
FieldList TypeField(WeightType* type);

}  // namespace attend

#endif  // ATTEND_TASKS_LOADED_MODEL_H_
