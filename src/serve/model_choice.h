// The model that a request means, its language detected where it says auto.
#ifndef ATTEND_SERVE_MODEL_CHOICE_H_
#define ATTEND_SERVE_MODEL_CHOICE_H_

#include <memory>
#include <string>
#include <vector>

#include "serve/model_store.h"

namespace attend {

struct ModelChoice {
  std::shared_ptr<ServedModel> model;
  // For each text, how sure detection is of the model's language, in percent; 0: not detected.
  std::vector<double> confidences;
};

// Chooses by the request's model, source and target. With source auto, chooses by the detected
// language among the models, or checks it against the named one; texts too short for that go with
// the others, or to the only model. Throws as ModelStore::Find, and Error(kInput) for a text in a
// language that none of these models reads, or texts that need several models.
ModelChoice ChooseModel(const ModelStore& models, const RequestOptions& asked,
                        const std::vector<std::string>& texts);

bool IsAuto(const std::string& source);

}  // namespace attend

#endif  // ATTEND_SERVE_MODEL_CHOICE_H_
