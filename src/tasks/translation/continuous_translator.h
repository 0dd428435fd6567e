// Translates sentences that come one by one, from whoever sends them, on threads that many models
// may share. The engine of a service; Translator is for texts that are all there.
#ifndef ATTEND_TASKS_TRANSLATION_CONTINUOUS_TRANSLATOR_H_
#define ATTEND_TASKS_TRANSLATION_CONTINUOUS_TRANSLATOR_H_

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attend/scorer.h"
#include "attend/translator.h"
#include "base/work_pool.h"
#include "tasks/search_work.h"
#include "tasks/translation/annotated_source.h"
#include "tasks/translation/quality_estimator.h"
#include "tasks/translation/task_runner.h"

namespace attend {

struct Sentence {
  std::string text;
  std::vector<int32_t> ids;  // of the text; none where it has no letter or digit
  bool protect = true;       // as its ids were made
  // What the ids are of, where they have the text's terms (ReadTerms).
  std::optional<AnnotatedSource> annotated = std::nullopt;
  // Those that CheckTranslationOptions takes. batch_sentences, batch_tokens, work and stop mean
  // nothing here.
  TranslationOptions options;
  bool attention = false;
  std::vector<int32_t> prefix = {};  // the output begins with these
  // Above 0: the hypotheses are the prefix with one token more, enough for so many next words.
  int64_t next_words = 0;
};

struct SentenceResult {
  Translation translation;
  std::vector<PairScore> attention;  // of each hypothesis, forced; with Sentence::attention
};

// Where sentences wait and results go. Called from all threads at once; a sentence belongs to the
// caller of Next until one of Done, Dropped and Failed.
class SentenceQueue {
 public:
  virtual ~SentenceQueue() = default;
  // Null: none for a thread that holds so much.
  virtual const Sentence* Next(const SearchLoad& load) = 0;
  // Asked before every step: false, and the sentence is dropped.
  virtual bool Wanted(const Sentence& sentence) = 0;
  virtual void Done(const Sentence& sentence, SentenceResult result) = 0;
  virtual void Dropped(const Sentence& sentence) = 0;
  virtual void Failed(const Sentence& sentence, std::exception_ptr error) = 0;
};

class ContinuousTranslator {
 public:
  // Throws as Translator does. The threads are the pool's, which must outlive it; options.threads
  // means nothing.
  ContinuousTranslator(std::shared_ptr<const LoadedModel> loaded, const TranslatorOptions& options,
                       WorkPool* pool);
  ~ContinuousTranslator();

  // Translates what the queue has, from now until Stop, when what runs still fails. Whoever puts a
  // sentence in calls the pool's Wake.
  void Start(SentenceQueue* queue);
  void Stop();

  const Vocabulary& source() const { return runner_.source(); }
  const Vocabulary& target() const { return runner_.target(); }
  // Ids of a sentence, as Sentence has them.
  std::vector<int32_t> Encode(const std::string& text, bool protect = true) const {
    return runner_.Encode(text, protect);
  }
  // Gives a sentence the ids of its text with the terms of its options' glossary, where the model
  // reads terms and these are at most `most`.
  void ReadTerms(int64_t most, Sentence* sentence) const;
  // Ids of the beginning of a sentence's output, as Sentence has them.
  std::vector<int32_t> EncodeBeginning(const std::string& text, const std::string& beginning,
                                       bool protect) const;
  // Prefixes for the alternatives behind that of a sentence with next_words, by its result.
  std::vector<std::vector<int32_t>> LongerPrefixes(const Sentence& sentence,
                                                   const SentenceResult& result) const;
  // Parts of a text that are copied exactly: it must not be divided inside one.
  std::vector<TextPart> ProtectedParts(std::string_view text) const {
    return runner_.protection().Find(text);
  }
  // The most ids that a sentence may have, without eos.
  int64_t max_input_tokens() const { return runner_.max_source_tokens(); }
  // The most tokens of an output, as TranslationOptions::max_length has it.
  int64_t MaxLength(int64_t source_length, const TranslationOptions& options) const;

 private:
  class LiveSentences;

  TaskRunner runner_;
  std::shared_ptr<const QualityEstimator> estimator_;  // null: none
  WorkPool* pool_;
  std::unique_ptr<LiveSentences> sentences_;
  std::unique_ptr<SearchWork> search_;
};

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_CONTINUOUS_TRANSLATOR_H_
