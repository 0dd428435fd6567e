// Translates sentences that come one by one, from whoever sends them, in batches that they join and
// leave between steps. The engine of a service; Translator is for texts that are all there.
#ifndef ATTEND_ENGINE_TASKS_CONTINUOUS_TRANSLATOR_H_
#define ATTEND_ENGINE_TASKS_CONTINUOUS_TRANSLATOR_H_

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "attend/scorer.h"
#include "attend/translator.h"
#include "engine/tasks/task_runner.h"

namespace attend {

struct Sentence {
  std::string text;
  std::vector<int32_t> ids;  // of the text, as ContinuousTranslator::Encode cuts it
  // Those that CheckTranslationOptions takes; beam_size at most BatchRoom's. batch_sentences,
  // batch_tokens, work and stop mean nothing here.
  TranslationOptions options;
  bool attention = false;
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
  // Returns true once a sentence may be waiting, false when none will come any more.
  virtual bool Wait() = 0;
  // Null: none for a caller that has `held` already.
  virtual const Sentence* Next(int64_t held) = 0;
  // Asked before every step: false, and the sentence is dropped.
  virtual bool Wanted(const Sentence& sentence) = 0;
  virtual void Done(const Sentence& sentence, SentenceResult result) = 0;
  virtual void Dropped(const Sentence& sentence) = 0;
  virtual void Failed(const Sentence& sentence, std::exception_ptr error) = 0;
};

// What is live at once on a thread.
struct BatchRoom {
  int64_t max_beam_size = 64;
  int64_t sentences = 1024;
  int64_t tokens = 2048;  // pieces of input; a sentence counts kLeastSourceTokens at least
};

class ContinuousTranslator {
 public:
  // Throws as Translator does.
  ContinuousTranslator(std::shared_ptr<const Model> model, const TranslatorOptions& options,
                       const BatchRoom& room);

  // Until the queue's Wait is false, on all threads. One caller.
  void Run(SentenceQueue* queue);

  const Vocabulary& source() const { return runner_.source(); }
  const Vocabulary& target() const { return runner_.target(); }
  // The most ids that a sentence may have, without eos.
  int64_t max_input_tokens() const { return runner_.max_source_tokens(); }
  int threads() const { return runner_.threads(); }

 private:
  TaskRunner runner_;
  BatchRoom room_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TASKS_CONTINUOUS_TRANSLATOR_H_
