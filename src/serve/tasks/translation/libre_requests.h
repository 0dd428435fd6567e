// What LibreTranslate's routes have translated: texts and files alike.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_LIBRE_REQUESTS_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_LIBRE_REQUESTS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attend/translator.h"
#include "base/json.h"
#include "memory/translation_memory.h"
#include "serve/task_handler.h"
#include "serve/tasks/translation/source_texts.h"
#include "serve/tasks/translation/translation_requests.h"

namespace attend {

// That a request may ask for: the widest beam of whole groups has so many beside the best one.
int64_t MostAlternatives(const ServeOptions& options);

struct LibreRequest {
  std::vector<std::string> texts;
  bool html = false;
  bool together = false;  // the texts are of one document, and so in one language
  std::string model, source, target;
  int64_t alternatives = 0;
  Priority priority = Priority::kAuto;
  std::shared_ptr<const Glossary> glossary = nullptr;         // null: none
  std::shared_ptr<const TranslationMemory> memory = nullptr;  // the same
  // Called as sentences are ready, from several threads; may be empty.
  std::function<void(int64_t done, int64_t sentences)> progress = {};
};

// What a client should know of a translation: sentences whose output was cut, or that were too
// long, and characters that the vocabulary lacks.
struct LibreCounts {
  int64_t unfinished = 0, divided = 0, unknown_characters = 0;

  // Those above 0, as X-Attend-Unfinished and so on.
  void AddTo(HttpHeaders* headers) const;
  Json ToJson() const;
};
LibreCounts CountsOf(const TranslationJob& job);

// Answers; `request` is without its texts.
using LibreFinish = std::function<void(const LibreRequest& request, const TranslationJob& job,
                                       const SourceTexts& texts, const ModelChoice& choice)>;

// Safe to use from many threads.
class LibreRequests {
 public:
  // `requests` must outlive it.
  LibreRequests(const HandlerContext& context, const TranslationRequests& requests)
      : context_(context), requests_(requests) {}

  // Has a worker call `finish` once all is translated; an error is the answer instead.
  void Run(const ExchangePtr& exchange, LibreRequest request, LibreFinish finish) const;

 private:
  const HandlerContext context_;
  const TranslationRequests& requests_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_LIBRE_REQUESTS_H_
