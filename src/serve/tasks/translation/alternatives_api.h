// /v1/alternatives: what an output may have at a position.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_ALTERNATIVES_API_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_ALTERNATIVES_API_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/fields.h"
#include "serve/task_handler.h"
#include "serve/tasks/translation/request_options.h"
#include "serve/tasks/translation/served_glossaries.h"
#include "serve/tasks/translation/translation_requests.h"

namespace attend {

constexpr const char* kAlternativesRoute = "/v1/alternatives";

// What it takes beside its text and the beginning of the output.
struct AlternativesRequest {
  RequestOptions options;
  int64_t count = 5;
};
FieldList Fields(AlternativesRequest& request);

// Safe to use from many threads.
class AlternativesApi {
 public:
  // The others must outlive it.
  AlternativesApi(const HandlerContext& context, const TranslationRequests& requests,
                  const ServedGlossaries& glossaries)
      : context_(context), requests_(requests), glossaries_(glossaries) {}

  // Their answers call this object.
  std::vector<Route> Routes() const;

 private:
  struct Asked;
  // A search of the next token, and behind each that it finds one of the rest.
  void Find(const ExchangePtr& exchange) const;
  void FindRests(const ExchangePtr& exchange, const std::shared_ptr<Asked>& asked,
                 const JobSentence& next) const;

  const HandlerContext context_;
  const TranslationRequests& requests_;
  const ServedGlossaries& glossaries_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_ALTERNATIVES_API_H_
