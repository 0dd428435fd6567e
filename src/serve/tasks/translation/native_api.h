// The native API: /v1/translate.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_NATIVE_API_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_NATIVE_API_H_

#include <memory>
#include <vector>

#include "base/json.h"
#include "serve/task_handler.h"
#include "serve/tasks/translation/memories.h"
#include "serve/tasks/translation/served_glossaries.h"
#include "serve/tasks/translation/translation_requests.h"

namespace attend {

// A sentence of an answer: source, hypotheses, and attention where it was asked for and the source
// has pieces.
Json SentenceToJson(const ServedTranslator& model, const JobSentence& sentence);
// A whole answer.
Json JobToJson(const TranslationJob& job);

// Safe to use from many threads.
class NativeApi {
 public:
  // `requests`, `glossaries` and `memories` must outlive it.
  NativeApi(const HandlerContext& context, const TranslationRequests& requests,
            const ServedGlossaries& glossaries, const Memories& memories)
      : context_(context), requests_(requests), glossaries_(glossaries), memories_(memories) {}

  // Their answers call this object.
  std::vector<Route> Routes() const;

 private:
  void Translate(const ExchangePtr& exchange) const;
  void Stream(const ExchangePtr& exchange, const std::shared_ptr<TranslationJob>& job) const;

  const HandlerContext context_;
  const TranslationRequests& requests_;
  const ServedGlossaries& glossaries_;
  const Memories& memories_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_NATIVE_API_H_
