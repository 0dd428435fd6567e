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
  double confidence = 0;  // in percent, that the texts are in its language; 0: not detected
};

// By the request's model, source and target. With source auto the model of the language that the
// texts seem to be in; where there is none, the one that fits the rest. Throws as ModelStore::Find.
ModelChoice ChooseModel(const ModelStore& models, const RequestOptions& asked,
                        const std::vector<std::string>& texts);

}  // namespace attend

#endif  // ATTEND_SERVE_MODEL_CHOICE_H_
