// What a search needs of a model: the next tokens of hypotheses, one step at a time.
#ifndef ATTEND_SEARCH_STEPPER_H_
#define ATTEND_SEARCH_STEPPER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "search/sampling.h"

namespace attend {

// An item that begins: a sentence or a prompt.
struct NewSentence {
  int64_t index = 0;
  std::span<const int32_t> source;       // as the encoder reads it
  std::span<const int32_t> once;         // target tokens that are always in the shortlist
  std::span<const float> numbers = {};   // rows that an encoder reads in place of tokens
  std::span<const int32_t> wanted = {};  // as `once`
};

// Tokens to be drawn after a row.
struct Sampling {
  const SamplingOptions* options = nullptr;
  std::span<const Draw> draws;
  std::span<const int32_t> seen;  // in prompt and output: rising, each once; for the penalty
};

// A token of a live hypothesis to be read. Those of one hypothesis follow each other.
struct StepRow {
  int32_t hypothesis = 0;  // its index among all
  int32_t token = 0;
  int32_t source_row = -1;      // of the source, whose vector is added; -1: none
  bool asks = true;             // false: it is read, and nothing is answered
  int32_t forced = -1;          // the only next token wanted; -1: the best ones
  bool may_end = true;          // false: eos is not among the best
  bool may_be_unknown = false;  // true: unk may be among the best
  bool scored = true;           // false: probabilities are not wanted, only which token is best
  int32_t most = 0;  // of the best so many are wanted at most; 0: as many as there is room for
  std::span<const int32_t> never = {};  // tokens that must not be among the best
  std::span<const int32_t> also = {};   // tokens to give in any case, besides the best
  const Sampling* sampling = nullptr;   // its draws are wanted, one token each, and not the best
  // Where given: how much it looks at each of the source's ids is written there.
  std::span<float> attention = {};
};

struct Candidate {
  int32_t id = -1;  // -1: there is no further one
  double log_probability =
      0;  // natural, at most 0; of a row that is not scored less than the best's
};

// Items come and go between steps. Each has an index from 0, which goes to another once it has
// left. Item s has the hypotheses s * beam_size to (s + 1) * beam_size - 1. One owner; not
// thread-safe.
class Stepper {
 public:
  virtual ~Stepper() = default;
  // Forgets all items.
  virtual void Reset(int64_t beam_size) = 0;
  virtual void Start(std::span<const NewSentence> sentences) = 0;
  // Reads each row's token and answers the rows that ask, in their order, with k next tokens each:
  // first `also`, then the best, likeliest first, ties by rising id. A forced row gets its one
  // token. Precondition: `also` has fewer than k, and a row no more draws.
  virtual void Step(std::span<const StepRow> rows, int64_t k, Candidate* best) = 0;
  // Hypothesis i of the item continues its former hypothesis parents[i]; the others end.
  // Without parents the item leaves.
  virtual void Reorder(int64_t sentence, std::span<const int32_t> parents) = 0;
};

// A Stepper that tells what it thinks of every token, too. Read stands for Step.
class WholeStepper : public Stepper {
 public:
  virtual int64_t vocabulary_size() const = 0;
  // Reads each row's token, as Step does, and answers nothing.
  virtual void Read(std::span<const StepRow> rows) = 0;
  // After the asking rows [first, first + count) of the last Read: logits [count, V], and what of
  // each row is taken off to make them natural log-probabilities.
  virtual void AllLogits(int64_t first, int64_t count, float* logits_CV, double* log_sums_C) = 0;
};

}  // namespace attend

#endif  // ATTEND_SEARCH_STEPPER_H_
