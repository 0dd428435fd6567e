// Files: /v1/check_file, and LibreTranslate's /translate_file and /download_file.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_FILE_API_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_FILE_API_H_

#include <string>
#include <vector>

#include "serve/request_body.h"
#include "serve/task_handler.h"
#include "serve/tasks/translation/documents.h"
#include "serve/tasks/translation/libre_requests.h"
#include "serve/tasks/translation/memories.h"
#include "serve/tasks/translation/served_glossaries.h"
#include "serve/tasks/translation/translated_files.h"

namespace attend {

// Safe to use from many threads.
class FileApi {
 public:
  // What it is given must outlive it.
  FileApi(const HandlerContext& context, const LibreRequests& libre,
          const ServedGlossaries& glossaries, const Memories& memories, ServedDocuments* documents)
      : context_(context),
        libre_(libre),
        glossaries_(glossaries),
        memories_(memories),
        documents_(*documents) {}

  // Their answers call this object.
  std::vector<Route> Routes();

 private:
  // Of a request to translate a file, without its texts.
  LibreRequest RequestOf(const ExchangePtr& exchange, const RequestBody& body, bool stream) const;
  void Check(const ExchangePtr& exchange) const;
  void Translate(const ExchangePtr& exchange) const;
  void Download(const ExchangePtr& exchange) const;
  // On a thread of the documents': a process reads the file, the models' queues translate its
  // texts, and the process writes it.
  void TranslateDocument(const ExchangePtr& exchange, const UploadedFile& file,
                         LibreRequest request, bool stream) const;
  // Keeps the file and says where it is.
  void Answer(const ExchangePtr& exchange, std::string content, const std::string& suffix,
              const LibreCounts& counts, bool stream) const;

  const HandlerContext context_;
  const LibreRequests& libre_;
  const ServedGlossaries& glossaries_;
  const Memories& memories_;
  ServedDocuments& documents_;
  mutable TranslatedFiles files_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_FILE_API_H_
