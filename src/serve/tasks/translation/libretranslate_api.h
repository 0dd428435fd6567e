// LibreTranslate's routes but those of files, so that its clients work unchanged.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_LIBRETRANSLATE_API_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_LIBRETRANSLATE_API_H_

#include <vector>

#include "base/json.h"
#include "serve/task_handler.h"
#include "serve/tasks/translation/documents.h"
#include "serve/tasks/translation/libre_requests.h"

namespace attend {

// Safe to use from many threads.
class LibreTranslateApi {
 public:
  // What it is given must outlive it.
  LibreTranslateApi(const HandlerContext& context, const LibreRequests& libre,
                    ServedDocuments* documents)
      : context_(context), libre_(libre), documents_(*documents) {}

  // Their answers call this object.
  std::vector<Route> Routes();

 private:
  void Languages(const ExchangePtr& exchange) const;
  void FrontendSettings(const ExchangePtr& exchange) const;
  void Detect(const ExchangePtr& exchange) const;
  void Suggest(const ExchangePtr& exchange) const;
  void Translate(const ExchangePtr& exchange) const;
  Json Settings() const;

  const HandlerContext context_;
  const LibreRequests& libre_;
  ServedDocuments& documents_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_LIBRETRANSLATE_API_H_
