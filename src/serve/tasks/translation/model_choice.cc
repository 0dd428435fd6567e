#include "serve/tasks/translation/model_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "attend/error.h"
#include "serve/language_codes.h"
#include "serve/tasks/translation/language_detector.h"
#include "text/ascii.h"

namespace attend {
namespace {

using ModelPtr = std::shared_ptr<ServedTranslator>;

// The first of those nearest to the language; a model that names no language reads any, and an
// adapter is only meant by its name. Null: none.
ModelPtr ReaderOf(const std::string& language, const RequestOptions& asked,
                  const std::vector<ModelPtr>& models) {
  ModelPtr best;
  int nearest = std::numeric_limits<int>::max();
  for (const ModelPtr& model : models) {
    if (asked.model.empty() && !model->whole()) continue;
    if (!asked.target.empty() && !LanguageDistance(asked.target, model->target())) continue;
    const int far = std::numeric_limits<int>::max() - 1;
    const auto from = model->source().empty() ? far : LanguageDistance(language, model->source());
    if (!from || *from >= nearest) continue;
    nearest = *from;
    best = model;
  }
  return best;
}

[[noreturn]] void RefuseLanguage(size_t text, size_t texts, const std::string& language,
                                 const RequestOptions& asked) {
  std::string why = fmt::format("the model '{}' does not read", asked.model);
  if (asked.model.empty()) {
    why = "no model here reads";
    if (!asked.target.empty()) why += fmt::format(" to write '{}'", asked.target);
  }
  throw Error(ErrorKind::kInput,
              fmt::format("text{} is in the language '{}', which {}; name the source if it is "
                          "another one",
                          texts == 1 ? "" : fmt::format(" {}", text + 1), language, why));
}

// Its index among the models, at their end where it is new.
size_t IndexOf(const ModelPtr& model, std::vector<ModelPtr>* models) {
  const auto found = std::ranges::find(*models, model);
  const auto index = static_cast<size_t>(found - models->begin());
  if (found == models->end()) models->push_back(model);
  return index;
}

}  // namespace

std::vector<std::shared_ptr<ServedTranslator>> Translators(const ModelStore& models) {
  std::vector<std::shared_ptr<ServedTranslator>> translators;
  for (const auto& model : models.models()) {
    if (auto translator = std::dynamic_pointer_cast<ServedTranslator>(model))
      translators.push_back(std::move(translator));
  }
  return translators;
}

bool IsAuto(const std::string& source) { return LowerCase(source) == "auto"; }

ModelChoice ChooseModels(const ModelStore& models, const RequestOptions& asked,
                         const std::vector<std::string>& texts, const std::string& path) {
  ModelChoice choice;
  choice.confidences.resize(texts.size());
  const auto find = [&] {
    return std::static_pointer_cast<ServedTranslator>(
        models.Find(kTranslateRoute, asked.model, asked.source, asked.target, path));
  };
  if (!IsAuto(asked.source)) {
    choice.models = {find()};
    choice.of_text.resize(texts.size());
    return choice;
  }
  const std::vector<ModelPtr> all =
      asked.model.empty() ? Translators(models) : std::vector<ModelPtr>{find()};
  std::vector<ModelPtr> readers(texts.size()), sure, guessed;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::vector<DetectedLanguage> found = DetectLanguages(texts[i]);
    if (found.empty()) continue;
    const DetectedLanguage& language = found[0];
    readers[i] = ReaderOf(language.code, asked, all);
    if (readers[i] != nullptr) {
      choice.confidences[i] = language.confidence;
      IndexOf(readers[i], language.sure ? &sure : &guessed);
    } else if (language.sure) {
      RefuseLanguage(i, texts.size(), language.code, asked);
    }
  }
  // CLD2 guesses English where it knows nothing, so a guess beside sure texts is one among theirs.
  const std::vector<ModelPtr>& known = sure.empty() ? guessed : sure;
  const ModelPtr others = known.empty() ? find() : known.front();
  for (size_t i = 0; i < texts.size(); ++i) {
    const bool is_known = std::ranges::find(known, readers[i]) != known.end();
    if (!is_known) choice.confidences[i] = 0;
    choice.of_text.push_back(IndexOf(is_known ? readers[i] : others, &choice.models));
  }
  if (texts.empty()) choice.models = {others};
  return choice;
}

}  // namespace attend
