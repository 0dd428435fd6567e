// The texts of a request, plain or HTML, on their way to the model and back.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_SOURCE_TEXTS_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_SOURCE_TEXTS_H_

#include <string>
#include <vector>

#include "html/document.h"
#include "serve/tasks/translation/translation_job.h"

namespace attend {

class SourceTexts {
 public:
  SourceTexts(std::vector<std::string> texts, bool html);

  // What a job is to translate: each text, or each segment of each document.
  const std::vector<std::string>& segments() const { return segments_; }
  // The beginning of what is to be translated of each text.
  std::vector<std::string> Samples() const;
  // For each segment the value of its text.
  std::vector<size_t> PerSegment(const std::vector<size_t>& of_text) const;
  // The translation of each text, of the hypotheses of one rank; the job's texts were segments().
  std::vector<std::string> Translated(const TranslationJob& job, size_t rank) const;

 private:
  std::vector<std::string> segments_;
  std::vector<HtmlDocument> documents_;  // none where the texts are plain
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_SOURCE_TEXTS_H_
