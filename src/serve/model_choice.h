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
  // Of each text, in percent that it is in the model's language; 0: not detected.
  std::vector<double> confidences;
};

// By the request's model, source and target. With source auto, and no model named, the model of the
// language that the texts are in; texts too short to be sure go with the others, or else to the one
// model there is. Throws as ModelStore::Find, and Error(kInput) for a text in a language that no
// model reads, or texts in the languages of several models.
ModelChoice ChooseModel(const ModelStore& models, const RequestOptions& asked,
                        const std::vector<std::string>& texts);

bool IsAuto(const std::string& source);

}  // namespace attend

#endif  // ATTEND_SERVE_MODEL_CHOICE_H_
