#include "serve/tasks/registry.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "model/model_directory.h"
#include "serve/tasks/classification/classification.h"
#include "serve/tasks/embeddings/embeddings.h"
#include "serve/tasks/language_model/language_model.h"
#include "serve/tasks/masked_language_model/masked_language_model.h"
#include "serve/tasks/tagging/tagging.h"
#include "serve/tasks/translation/translation.h"

namespace attend {
namespace {

struct ServedTask {
  const char* name;  // ModelConfig::task
  std::shared_ptr<ServedModel> (*serve)(const ModelToServe& model, const ServeOptions& options,
                                        WorkPool* pool);
  std::unique_ptr<TaskHandler> (*handler)(const HandlerContext& context);
};

template <EncoderRoute (*route)()>
std::unique_ptr<TaskHandler> HandlerOf(const HandlerContext& context) {
  return std::make_unique<EncoderHandler>(context, route());
}

constexpr ServedTask kTasks[] = {
    {"classification", ServeClassification, HandlerOf<ClassificationRoute>},
    {"language_model", ServeLanguageModel, LanguageModelHandler},
    {"masked_language_model", ServeMaskedLanguageModel, HandlerOf<MaskedLanguageModelRoute>},
    {"tagging", ServeTagging, HandlerOf<TaggingRoute>},
    {"translation", ServeTranslation, TranslationHandler}};

}  // namespace

std::shared_ptr<ServedModel> ServeModel(const std::string& name, const std::string& directory,
                                        const ServeOptions& options, WorkPool* pool) {
  const ModelToServe model{name, directory, LoadModel(directory)};
  for (const ServedTask& task : kTasks) {
    if (model.model->config.task == task.name) return task.serve(model, options, pool);
  }
  throw Error(ErrorKind::kUsage, fmt::format("the task of the model in '{}' is {}, which is not "
                                             "served",
                                             directory, model.model->config.task));
}

std::vector<std::unique_ptr<TaskHandler>> TaskHandlers(const HandlerContext& context) {
  std::vector<std::unique_ptr<TaskHandler>> handlers;
  for (const ServedTask& task : kTasks) handlers.push_back(task.handler(context));
  handlers.push_back(HandlerOf<EmbeddingsRoute>(context));
  return handlers;
}

}  // namespace attend
