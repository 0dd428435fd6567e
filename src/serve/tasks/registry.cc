#include "serve/tasks/registry.h"

#include <fmt/format.h>

#include <utility>

#include "attend/error.h"
#include "serve/tasks/classification/classification.h"
#include "serve/tasks/embeddings/embeddings.h"
#include "serve/tasks/fusion/fusion.h"
#include "serve/tasks/language_model/language_model.h"
#include "serve/tasks/masked_language_model/masked_language_model.h"
#include "serve/tasks/parsing/parsing.h"
#include "serve/tasks/tagging/tagging.h"
#include "serve/tasks/transcription/transcription.h"
#include "serve/tasks/translation/translation.h"

namespace attend {
namespace {

struct ServedTask {
  const char* name;  // ModelConfig::task
  std::shared_ptr<ServedModel> (*serve)(const ModelToServe& model, const ServeOptions& options,
                                        WorkPool* pool);
};

// Options that name models of translation, of which this is none.
void CheckTakesNone(const ServedModel& model, const ServeOptions& options) {
  for (const auto& [option, all] :
       {std::pair("shortlist", &options.shortlist), std::pair("estimator", &options.estimator)}) {
    for (const std::string& given : *all) {
      const std::string name = NameAndPath(given).first;
      if (!name.empty() && name != model.name()) continue;
      throw Error(ErrorKind::kUsage,
                  fmt::format("{} is '{}', but the task of the model '{}' is {}, expected a model "
                              "of translation",
                              option, given, model.name(), model.config().task));
    }
  }
}

constexpr ServedTask kTasks[] = {{"classification", ServeClassification},
                                 {"fusion", ServeFusion},
                                 {"language_model", ServeLanguageModel},
                                 {"masked_language_model", ServeMaskedLanguageModel},
                                 {"parsing", ServeParsing},
                                 {"tagging", ServeTagging},
                                 {"transcription", ServeTranscription},
                                 {"translation", ServeTranslation}};

}  // namespace

std::shared_ptr<ServedModel> ServeModel(const ModelToServe& model, const ServeOptions& options,
                                        WorkPool* pool) {
  const std::string& needed = model.loaded->config().task;
  for (const ServedTask& task : kTasks) {
    if (needed != task.name) continue;
    std::shared_ptr<ServedModel> served = task.serve(model, options, pool);
    if (needed != "translation") CheckTakesNone(*served, options);
    return served;
  }
  throw Error(ErrorKind::kUsage, fmt::format("the task of the model in '{}' is {}, which is not "
                                             "served",
                                             model.directory, needed));
}

std::vector<EncoderRoute> EncoderRoutes() {
  return {ClassificationRoute(), EmbeddingsRoute(), MaskedLanguageModelRoute(), ParsingRoute(),
          TaggingRoute()};
}

std::vector<std::unique_ptr<TaskHandler>> TaskHandlers(const HandlerContext& context) {
  std::vector<std::unique_ptr<TaskHandler>> handlers;
  handlers.push_back(LanguageModelHandler(context));
  handlers.push_back(TranscriptionHandler(context));
  handlers.push_back(TranslationHandler(context));
  for (const EncoderRoute& route : EncoderRoutes())
    handlers.push_back(std::make_unique<EncoderHandler>(context, route));
  return handlers;
}

}  // namespace attend
