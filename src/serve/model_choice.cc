#include "serve/model_choice.h"

#include "serve/language_detector.h"

namespace attend {
namespace {

constexpr size_t kEnoughText = 4096;  // bytes, to know the language

// zh of zh-Hant
std::string Primary(const std::string& code) { return code.substr(0, code.find_first_of("-_")); }

}  // namespace

ModelChoice ChooseModel(const ModelStore& models, const RequestOptions& asked,
                        const std::vector<std::string>& texts) {
  if (asked.source != "auto") return {models.Find(asked.model, asked.source, asked.target)};
  std::string text;
  for (size_t i = 0; i < texts.size() && text.size() < kEnoughText; ++i) text += texts[i] + '\n';
  for (const DetectedLanguage& language : DetectLanguages(text)) {
    for (const auto& model : models.models()) {
      if (!asked.model.empty() && asked.model != model->name()) continue;
      if (!asked.target.empty() && asked.target != model->target()) continue;
      if (Primary(model->source()) != Primary(language.code)) continue;
      return {model, language.confidence};
    }
  }
  return {models.Find(asked.model, asked.source, asked.target)};
}

}  // namespace attend
