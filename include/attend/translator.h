// Translates sentences with a model directory. Start here.
//
// A Translator is immutable and safe to use from many threads: the sentences of all calls that run
// share its own threads and their batches, so that a short call need not wait for a long one. The
// same sentence gives the same text and score, bit for bit, whatever else runs and however many
// threads do. After a fork the child's first call starts threads of its own.
#ifndef ATTEND_TRANSLATOR_H_
#define ATTEND_TRANSLATOR_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace attend {

struct Model;

// Where time went, in seconds of all threads together.
struct WorkSeconds {
  double encoder = 0;
  double self_attention = 0, cross_attention = 0, feed_forward = 0;  // of the decoder
  double output = 0;                                                 // the output layer
  double search = 0;
  double rest = 0;
};

// The numbers that weights run as: int8 makes a model a quarter of the size and faster.
enum class WeightType { kStored, kF32, kInt8 };

// What a Translator is made with.
struct TranslatorOptions {
  // 0: as many as the machine has. They share the sentences of all calls, or the large products of
  // a single one.
  int threads = 0;
  WeightType type = WeightType::kStored;
  // Spans that training protected (numbers, URLs ...) are copied exactly; false: translated like
  // all text. Nothing for a model that was trained without.
  bool protect = true;
  std::string shortlist;        // a file of `attend shortlist`; empty: the whole vocabulary
  std::string instruction_set;  // empty: what ATTEND_ISA names, or the best of the machine
};

struct TranslationOptions {
  int64_t beam_size = 4;
  double length_penalty = 0.6;  // alpha of ((5 + length) / 6)^alpha
  int64_t n_best = 1;           // at most beam_size
  // Pieces, eos too; 0: the input's plus 50, or more where outputs of training were longer,
  // min_length's at least.
  int64_t max_length = 0;
  int64_t min_length = 0;      // pieces of output that show and stand before eos at least
  bool allow_unknown = false;  // the output may hold the unknown piece
  bool scores = true;          // false: a greedy search leaves them 0 and is a little faster
  bool alignments = false;
  int64_t alignment_layer = 0;  // the decoder layer, from 1; 0: the last
  // Sentences of the call that run together on a thread at most.
  int64_t batch_sentences = 1024;
  // Pieces of input that run together on a thread; a sentence counts 16 at least.
  int64_t batch_tokens = 2048;
  // Where one is given, time is taken and added to it: that of the searches while the call runs,
  // other calls' too.
  WorkSeconds* work = nullptr;
  // Where another thread sets it, the call ends after a step with Error(kRuntime).
  const std::atomic<bool>* stop = nullptr;
};

// Word `target` of the output goes back to word `source` of the input; white-space words from 0.
struct AlignmentLink {
  int64_t source = 0;
  int64_t target = 0;
  bool operator==(const AlignmentLink&) const = default;
};

// Bytes of a text.
struct ProtectedPart {
  size_t begin = 0, end = 0;
};

struct Hypothesis {
  std::string text;                      // empty for a model without vocabulary
  std::vector<int32_t> ids;              // without bos and eos
  double score = 0;                      // log_probability / ((5 + length) / 6)^length_penalty
  double log_probability = 0;            // natural; both are 0 of an unscored greedy search
  bool finished = true;                  // false: cut at max_length
  std::vector<AlignmentLink> alignment;  // with options.alignments
  // Spans of the text that were to be copied, and those that stand in the output exactly once.
  int64_t protected_spans = 0, protected_kept = 0;
};

// The n best of different texts, the best first: at least one, and fewer than n_best where the
// search found fewer. A text without letter or digit, and one that is empty, has itself alone for a
// translation, without ids and of score 0. A text with one has no translation that shows nothing,
// unless it is cut. Where options and vocabulary leave no output at all, it is an empty one, not
// finished, of score -infinity.
struct Translation {
  std::vector<Hypothesis> hypotheses;
  // A sentence of the text had more pieces than an input may have, and was divided between clauses,
  // words or characters. Translator does not divide.
  bool divided = false;
  // Those of the text that the vocabulary has no piece for, in order and as normalised: the model
  // does not see which they are, and its output lacks them.
  std::u32string unknown_characters;

  // The last stands for those that there are not.
  const Hypothesis& AtRank(size_t rank) const {
    return hypotheses[std::min(rank, hypotheses.size() - 1)];
  }
};

class Translator {
 public:
  // Throws Error(kInput) for a file that can't be read or is not of this model, Error(kUsage) for
  // f32 of a model stored as int8.
  static std::unique_ptr<Translator> Load(const std::string& directory,
                                          const TranslatorOptions& options = {});
  Translator(std::shared_ptr<const Model> model, const TranslatorOptions& options);
  ~Translator();
  Translator(const Translator&) = delete;
  Translator& operator=(const Translator&) = delete;

  // One Translation for each text, in order. Malformed UTF-8 is repaired. Throws Error(kUsage) for
  // options that make no sense or a model without vocabulary, Error(kInput) for a text longer than
  // learned positions reach.
  std::vector<Translation> Translate(std::span<const std::string> texts,
                                     const TranslationOptions& options = {}) const;
  // The same for texts that are cut already: `sources` holds Encode of each.
  std::vector<Translation> TranslateEncoded(std::span<const std::string> texts,
                                            std::span<const std::vector<int32_t>> sources,
                                            const TranslationOptions& options = {}) const;
  // The same from ids without bos and eos; the outputs begin with `prefixes`, where given.
  std::vector<Translation> TranslateIds(std::span<const std::vector<int32_t>> sources,
                                        const TranslationOptions& options = {},
                                        std::span<const std::vector<int32_t>> prefixes = {}) const;

  // Ids of a text, without eos, as Translate would cut it.
  std::vector<int32_t> Encode(const std::string& text) const;
  // The most ids that a text may have, without eos: what the encoder's learned positions reach.
  int64_t max_input_tokens() const;
  // Parts of a text that are copied exactly, rising: it must not be divided inside one.
  std::vector<ProtectedPart> ProtectedParts(const std::string& text) const;
  // The instruction set that runs.
  std::string instruction_set() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_TRANSLATOR_H_
