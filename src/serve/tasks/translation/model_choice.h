// The models that a request means, the languages of its texts detected where it says auto.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_MODEL_CHOICE_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_MODEL_CHOICE_H_

#include <memory>
#include <string>
#include <vector>

#include "serve/model_store.h"
#include "serve/tasks/translation/request_options.h"
#include "serve/tasks/translation/served_translator.h"

namespace attend {

// Those of the models that translate.
std::vector<std::shared_ptr<ServedTranslator>> Translators(const ModelStore& models);

struct ModelChoice {
  // Each once, in the order of their first texts; of a request without texts the one it means.
  std::vector<std::shared_ptr<ServedTranslator>> models;
  std::vector<size_t> of_text;  // for each text, which of the models
  // For each text, how sure detection is of its model's language, in percent; 0: not detected.
  std::vector<double> confidences;

  const ServedTranslator& ModelOf(size_t text) const { return *models[of_text[text]]; }
};

// Chooses by the request's model, source and target. With source auto, chooses for each text by its
// detected language among the models, or checks that against the named one. A text too short to be
// sure goes by the best guess among the languages of the sure texts, or with the first of them if
// the guess is another one. If no text is sure, each goes by its guess, or with the first that has
// one, or to the only model. Throws as ModelStore::Find, and Error(kInput) for a text that is
// surely in a language that none of these models reads.
// `path`: the route that the client asked.
ModelChoice ChooseModels(const ModelStore& models, const RequestOptions& asked,
                         const std::vector<std::string>& texts, const std::string& path);

bool IsAuto(const std::string& source);

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_MODEL_CHOICE_H_
