#include "serve/model_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "attend/error.h"
#include "serve/language_codes.h"
#include "serve/language_detector.h"
#include "text/ascii.h"

namespace attend {
namespace {

using ModelPtr = std::shared_ptr<ServedModel>;

// The first of those nearest to the language; a model that names no language reads any. Null: none.
ModelPtr ReaderOf(const std::string& language, const RequestOptions& asked,
                  const std::vector<ModelPtr>& models) {
  ModelPtr best;
  int nearest = std::numeric_limits<int>::max();
  for (const ModelPtr& model : models) {
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

}  // namespace

bool IsAuto(const std::string& source) { return LowerCase(source) == "auto"; }

ModelChoice ChooseModel(const ModelStore& models, const RequestOptions& asked,
                        const std::vector<std::string>& texts) {
  ModelChoice choice;
  choice.confidences.resize(texts.size());
  const auto find = [&] { return models.Find(asked.model, asked.source, asked.target); };
  if (!IsAuto(asked.source)) {
    choice.model = find();
    return choice;
  }
  const std::vector<ModelPtr> all =
      asked.model.empty() ? models.models() : std::vector<ModelPtr>{find()};
  ModelPtr guess;  // of a text too short to be sure
  size_t first = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::vector<DetectedLanguage> found = DetectLanguages(texts[i]);
    if (found.empty()) continue;
    const DetectedLanguage& language = found[0];
    const ModelPtr reader = ReaderOf(language.code, asked, all);
    if (reader != nullptr) choice.confidences[i] = language.confidence;
    if (!language.sure) {
      if (guess == nullptr) guess = reader;
      continue;
    }
    if (reader == nullptr) RefuseLanguage(i, texts.size(), language.code, asked);
    if (choice.model == nullptr) first = i;
    if (choice.model == nullptr) choice.model = reader;
    if (choice.model != reader) {
      throw Error(ErrorKind::kInput,
                  fmt::format("texts {} and {} are in the languages of two models, {} and {}; send "
                              "the texts of each language in a request of their own",
                              first + 1, i + 1, choice.model->name(), reader->name()));
    }
  }
  if (choice.model == nullptr) choice.model = guess != nullptr ? guess : find();
  return choice;
}

}  // namespace attend
