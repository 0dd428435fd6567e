// A request's texts as a job of sentences, and the results as texts again.
#ifndef ATTEND_SERVE_TRANSLATION_JOB_H_
#define ATTEND_SERVE_TRANSLATION_JOB_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "serve/served_model.h"
#include "text/text_parts.h"

namespace attend {

struct TranslationJob : Job {
  struct Text {
    std::string text;
    std::vector<TextPart> parts;
    size_t first = 0;     // its first sentence among the job's
    int64_t divided = 0;  // its sentences that were too long, each of which has several parts
  };

  std::shared_ptr<ServedModel> model;
  std::vector<Text> texts;
  std::shared_ptr<void> place;  // held as long as the job is, where it takes much memory
  bool failed = false;          // its request has an error for an answer; the worker's alone

  std::span<const JobSentence> SentencesOf(const Text& text) const {
    return {sentences.data() + text.first, text.parts.size()};
  }
  // The text with its sentences' hypotheses of this rank.
  std::string Join(const Text& text, size_t rank) const;
  // No best hypothesis of the text's sentences was cut.
  bool Finished(const Text& text) const;
  int64_t Unfinished() const;  // sentences whose best hypothesis was cut
  int64_t Divided() const;     // sentences that were too long
  int64_t UnknownCharacters() const;
  int64_t UnknownCharacters(const Text& text) const;
  int64_t SourcePieces() const;
  int64_t TargetPieces() const;  // of the best hypotheses
};

// Throws Error(kInput) for more characters than max_characters.
void CheckCharacters(const std::vector<std::string>& texts, const ServeOptions& options);

// A sentence of more pieces than max_input_tokens or the model allow, or of more than 64 bytes for
// each of those, is divided into several. Throws Error(kInput) for more sentences than
// max_sentences, and with attention for one that is too long; seconds of work for a megabyte, in
// which `check` is called often and may throw.
std::shared_ptr<TranslationJob> MakeJob(std::shared_ptr<ServedModel> model,
                                        std::vector<std::string> texts, const RequestOptions& asked,
                                        const ServeOptions& options,
                                        const std::function<void()>& check);

}  // namespace attend

#endif  // ATTEND_SERVE_TRANSLATION_JOB_H_
