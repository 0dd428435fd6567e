#include "serve/tasks/translation/served_translator.h"

#include <algorithm>

#include "search/search.h"
#include "tasks/translation/translation_search.h"

namespace attend {
namespace {

// With the shortlist of the model of this name.
TranslatorOptions OptionsOf(const ServeOptions& options, const std::string& name) {
  TranslatorOptions translator = options.translator;
  for (const std::string& given : options.shortlist) {
    const auto [model, file] = NameAndPath(given);
    if (model.empty() || model == name) translator.shortlist = file;
  }
  return translator;
}

int64_t CapacityOf(const TranslationOptions& options, int threads) {
  const int64_t by_tokens = std::max<int64_t>(1, options.batch_tokens / kLeastSourceTokens);
  return threads * std::min(options.batch_sentences, by_tokens);
}

}  // namespace

ServedTranslator::ServedTranslator(const ModelToServe& model, const ServeOptions& options,
                                   WorkPool* pool)
    : ServedModel(model),
      beam_size_(options.translation.beam_size),
      training_text_(model.model->training_text),
      translator_(LoadWith(model.model, options.translator), OptionsOf(options, name()), pool),
      capacity_(CapacityOf(options.translation, pool->size())),
      queue_(options.queue_sentences,
             {options.translation.batch_sentences, options.translation.batch_tokens}, pool) {
  translator_.source();  // throws where there is none
  translator_.Start(&queue_);
}

void ServedTranslator::Describe(Json* json) const {
  const auto layers = [&](const char* side, const std::optional<StackConfig>& stack) {
    (*json)[std::string(side) + "_layers"] = stack ? stack->layers : 0;
    (*json)[std::string(side) + "_heads"] = stack ? stack->heads : 0;
  };
  layers("encoder", config().encoder);
  layers("decoder", config().decoder);
  (*json)["beam_size"] = beam_size_;
}

void ServedTranslator::Stop() {
  queue_.Close();
  translator_.Stop();
}

}  // namespace attend
