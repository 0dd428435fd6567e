// What Translator and Scorer share: a model with its vocabularies, and forced decoding.
#ifndef ATTEND_TASKS_TRANSLATION_TASK_RUNNER_H_
#define ATTEND_TASKS_TRANSLATION_TASK_RUNNER_H_

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/scorer.h"
#include "attend/translator.h"
#include "attend/vocabulary.h"
#include "model/shortlist.h"
#include "model/training_text.h"
#include "tasks/ensemble.h"
#include "tasks/loaded_model.h"
#include "tasks/task_threads.h"
#include "tasks/translation/protection.h"
#include "tasks/translation/token_texts.h"

namespace attend {

// The word that each piece belongs to, rising, or falling in a target that is written from its end;
// -1 for each where the text has none.
struct WordsOfPieces {
  std::vector<int64_t> source, target;
};

// Each target word goes to the source word that gets most of its pieces' weight, the first of equal
// ones. Rows and columns past the pieces (eos) belong to no word.
std::vector<AlignmentLink> AlignWords(const WordsOfPieces& words,
                                      const std::vector<std::vector<float>>& weights_TS);

// Pairs to score, as ids without bos and eos. Alignments count the words of the texts, where they
// are given, else those of the ids' text.
struct ScoredPairs {
  std::span<const std::vector<int32_t>> sources, targets;
  std::span<const std::string> source_texts = {}, target_texts = {};
};

// Immutable; safe to use from many threads.
class TaskRunner {
 public:
  // Throws Error(kUsage) for a model of another task, or without a decoder that has a vocabulary
  // head.
  explicit TaskRunner(std::shared_ptr<const LoadedModel> loaded,
                      std::shared_ptr<const Shortlist> shortlist = nullptr, bool protect = true);
  // Of several models that search together. The first one's vocabularies read and write; it alone
  // scores and aligns. Throws for any of them.
  explicit TaskRunner(std::shared_ptr<const Ensemble> ensemble, bool protect = true);

  const Weights& weights() const { return loaded_->weights; }
  const MakeStepper& make_stepper() const { return loaded_->make_stepper; }
  // Null: there is one model.
  const Ensemble* ensemble() const { return ensemble_.get(); }
  const ModelConfig& config() const { return loaded_->config(); }
  const SpecialIds& special_ids() const { return config().special_ids; }
  // Null: outputs may hold the whole vocabulary.
  const std::shared_ptr<const Shortlist>& shortlist() const { return shortlist_; }
  // Throws Error(kUsage) for a model without one.
  const Vocabulary& source() const { return loaded_->source(); }
  const Vocabulary& target() const { return loaded_->target(); }
  // Protects nothing where the model has no vocabulary.
  const Protection& protection() const { return *protection_; }
  // A text as the model reads it; without `protect` its spans are text like all.
  MaskedText Mask(const std::string& text, bool protect = true) const;
  // Throws Error(kUsage) where the target's ids begin with the end of the text: such a model has no
  // way to write what `option` asks for.
  void CheckWritesFromTheBeginning(const char* option) const;
  // Ids of a text, without eos, with placeholders for its protected spans.
  std::vector<int32_t> Encode(const std::string& text, bool protect = true) const;
  // Of a text as the model reads it, with its ids.
  std::u32string UnknownCharacters(const std::string& read, std::span<const int32_t> ids) const;

  // Of the target vocabulary; made by the first call.
  const TokenTexts& token_texts() const;

  // What is known of the text that the model was trained on.
  const std::optional<TrainingText>& training_text() const {
    return loaded_->model().training_text;
  }
  // By id: 1 where a target piece shows nothing; empty for a model without vocabulary.
  std::span<const uint8_t> blank() const { return blank_; }
  // The model was taught to read terms (text/term_annotation.h).
  bool reads_terms() const { return reads_terms_; }
  // Target ids of the tokens around terms (TermTokenIds), which no output should have.
  std::span<const int32_t> term_tokens() const { return term_tokens_; }
  // Whether the ids of a source say something: a letter or a digit. False without a vocabulary.
  bool HasWords(std::span<const int32_t> ids) const;

  // Ids in the order given, with what the model's encoder reads around them. Throws Error(kUsage)
  // for an id outside the vocabulary, and for any where the model has no encoder.
  std::vector<int32_t> EncoderInput(std::span<const int32_t> ids) const;
  void CheckTargetIds(std::span<const int32_t> ids) const;
  // The most ids of a source and of a target, without their frames, that the model's learned
  // positions reach; no bound without those.
  int64_t max_source_tokens() const;
  int64_t max_target_tokens() const;
  // ModelConfig::MaxOutput, for all models.
  int64_t MaxOutput(int64_t length) const;
  // Throws Error(kInput) that names the line for more.
  void CheckLengths(int64_t line, int64_t source_tokens, int64_t target_tokens) const;
  // Throws Error(kUsage) for a layer (from 1; 0: the last) that the decoder does not have.
  void CheckAlignmentLayer(int64_t layer) const;

  // What of an output can be forced: where learned positions end it, all but its last piece.
  std::vector<int32_t> ForcedTarget(const std::vector<int32_t>& output) const;
  // What the forced target's score says of the hypothesis: its alignment, and where it is asked for
  // its quality.
  void Judge(const PairScore& score, bool quality, Hypothesis* hypothesis) const;

  // Forced decoding of the pairs that `items` names, with the given thread's memory, into
  // scores[item]. Precondition: CheckLengths takes them.
  void ScoreBatch(const ScoredPairs& pairs, std::span<const int64_t> items,
                  const ScoreOptions& options, ForcedDecoding* decoding,
                  std::vector<PairScore>* scores) const;
  // The same by steppers of the model's own.
  void ScoreBySteps(const ScoredPairs& pairs, std::span<const int64_t> items,
                    std::vector<PairScore>* scores) const;
  // Forced decoding of all pairs, on all threads, which callers share. Throws Error(kUsage) where
  // the lists' lengths differ.
  std::vector<PairScore> Score(const ScoredPairs& pairs, const ScoreOptions& options,
                               TaskThreads* threads) const;

 private:
  template <class Number>
  int64_t LeastOfAll(const Number& number_of) const;
  // What every head of one layer gives one query.
  struct AttentionRow {
    const float* weights_HS;
    int64_t keys;
  };
  void KeepAttention(AttentionPlace place, int64_t layer, const AttentionRow& row,
                     PairScore* score) const;
  // [T, S] of a decoder layer (from 1; 0: the last), summed over heads, from the texts' first
  // tokens on: without what stands before them.
  std::vector<std::vector<float>> SummedCrossAttention(int64_t layer, const PairScore& score) const;

  std::shared_ptr<const LoadedModel> loaded_;
  std::shared_ptr<const Ensemble> ensemble_;  // null: loaded_ is alone
  std::shared_ptr<const Shortlist> shortlist_;
  std::vector<uint8_t> words_, blank_;  // by source id, by target id
  bool reads_terms_ = false;
  std::vector<int32_t> term_tokens_;
  std::unique_ptr<const Protection> protection_;
  struct LaterTexts {
    std::once_flag once;
    std::optional<TokenTexts> texts;
  };
  std::unique_ptr<LaterTexts> token_texts_ = std::make_unique<LaterTexts>();
};

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_TASK_RUNNER_H_
