// LibreTranslate's routes, so that its clients work unchanged.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_LIBRETRANSLATE_API_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_LIBRETRANSLATE_API_H_

#include <functional>
#include <string>
#include <vector>

#include "serve/task_handler.h"
#include "serve/tasks/translation/source_texts.h"
#include "serve/tasks/translation/translated_files.h"
#include "serve/tasks/translation/translation_requests.h"

namespace attend {

// What one of LibreTranslate's routes is to translate.
struct LibreRequest {
  std::vector<std::string> texts;
  bool html = false;
  std::string model, source, target;
  int64_t alternatives = 0;
  Priority priority = Priority::kAuto;
};

// What its end becomes; `request` without its texts.
using LibreAnswer =
    std::function<HttpResponse(const LibreRequest& request, const TranslationJob& job,
                               const SourceTexts& texts, const ModelChoice& choice)>;

// Safe to use from many threads.
class LibreTranslateApi {
 public:
  // `requests` must outlive it.
  LibreTranslateApi(const HandlerContext& context, const TranslationRequests& requests)
      : context_(context), requests_(requests) {}

  // Their answers call this object.
  std::vector<Route> Routes();

 private:
  void Languages(const ExchangePtr& exchange) const;
  void FrontendSettings(const ExchangePtr& exchange) const;
  void Detect(const ExchangePtr& exchange) const;
  void Suggest(const ExchangePtr& exchange) const;
  void Translate(const ExchangePtr& exchange) const;
  void TranslateFile(const ExchangePtr& exchange) const;
  void DownloadFile(const ExchangePtr& exchange) const;
  // What both translating routes do; `answer` is called once.
  void TranslateTexts(const ExchangePtr& exchange, LibreRequest request, LibreAnswer answer) const;

  const HandlerContext context_;
  const TranslationRequests& requests_;
  mutable TranslatedFiles files_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_LIBRETRANSLATE_API_H_
