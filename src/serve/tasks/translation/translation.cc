#include "serve/tasks/translation/translation.h"

#include <optional>
#include <utility>

#include "serve/tasks/translation/alternatives_api.h"
#include "serve/tasks/translation/documents.h"
#include "serve/tasks/translation/file_api.h"
#include "serve/tasks/translation/libre_requests.h"
#include "serve/tasks/translation/libretranslate_api.h"
#include "serve/tasks/translation/memories.h"
#include "serve/tasks/translation/native_api.h"
#include "serve/tasks/translation/projects_api.h"
#include "serve/tasks/translation/served_glossaries.h"
#include "serve/tasks/translation/served_translator.h"
#include "serve/tasks/translation/translation_openapi.h"
#include "serve/tasks/translation/translation_requests.h"

namespace attend {
namespace {

class Handler : public TaskHandler {
 public:
  explicit Handler(const HandlerContext& context)
      : context_(context),
        requests_(context),
        glossaries_(context.options.glossary),
        memories_(context.options),
        libre_(context, requests_),
        documents_(context.options),
        native_(context, requests_, glossaries_, memories_),
        alternatives_(context, requests_, glossaries_),
        libretranslate_(context, libre_, &documents_),
        files_(context, libre_, glossaries_, memories_, &documents_) {
    if (!context.options.projects.empty()) projects_.emplace(context);
  }

  std::vector<Route> Routes() override {
    std::vector<Route> routes = native_.Routes();
    for (Route& route : alternatives_.Routes()) routes.push_back(std::move(route));
    for (Route& route : libretranslate_.Routes()) routes.push_back(std::move(route));
    for (Route& route : files_.Routes()) routes.push_back(std::move(route));
    if (projects_) {
      for (Route& route : projects_->Routes()) routes.push_back(std::move(route));
    }
    return routes;
  }
  void Describe(Json* document) const override {
    DescribeTranslation(context_.options, context_.models, glossaries_, memories_, document);
    if (projects_) projects_->Describe(document);
  }
  void Close() override { documents_.Close(); }

 private:
  const HandlerContext context_;
  const TranslationRequests requests_;
  const ServedGlossaries glossaries_;
  const Memories memories_;
  const LibreRequests libre_;
  ServedDocuments documents_;
  const NativeApi native_;
  const AlternativesApi alternatives_;
  LibreTranslateApi libretranslate_;
  FileApi files_;
  std::optional<ProjectsApi> projects_;  // where --projects is given
};

}  // namespace

std::shared_ptr<ServedModel> ServeTranslation(const ModelToServe& model,
                                              const ServeOptions& options, WorkPool* pool) {
  return std::make_shared<ServedTranslator>(model, options, pool);
}

std::unique_ptr<TaskHandler> TranslationHandler(const HandlerContext& context) {
  return std::make_unique<Handler>(context);
}

}  // namespace attend
