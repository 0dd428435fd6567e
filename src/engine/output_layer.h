// The output layer: from hidden states to the next tokens and their log-probabilities.
#ifndef ATTEND_ENGINE_OUTPUT_LAYER_H_
#define ATTEND_ENGINE_OUTPUT_LAYER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "engine/activations.h"
#include "engine/weights.h"
#include "model/shortlist.h"
#include "search/stepper.h"

namespace attend {

// The output layer's columns that one sentence may use. One owner; keeps its memory.
struct ShortHead {
  std::vector<int32_t> columns;  // rising
  PackedMemory memory{0};
  Linear product;

  // Those that the shortlist gives the sentence, eos and the tokens it needs `once`.
  void Select(const Weights& weights, const Shortlist& shortlist, const NewSentence& sentence);
};

// What is asked about the token that follows a row.
struct NextToken {
  int32_t wanted = -1;                 // its log-probability alone; -1: the best
  std::span<const int32_t> forbidden;  // not among the best
  // false: the wanted or the best one's log-probability is given as 0, the others' as so much less
  bool scored = true;
  // Their log-probabilities stand before those of the best, which are so many fewer.
  std::span<const int32_t> also = {};
  // Where the best come from, and what their probabilities are among; null: the whole vocabulary.
  const ShortHead* head = nullptr;
  // Draws that are wanted in place of the best; not with a head.
  const Sampling* sampling = nullptr;
  int64_t most = 0;  // of the best at most; 0: as many as there is room for
};

// Moves these rows of hidden_RD, which rise, to its front.
void KeepRows(const Weights& weights, std::span<const int32_t> rows, Activations* activations);

// Answers for the rows in hidden_RD, one for each: best[row * k ...], k 0 where each row wants one
// token. Logits are made in blocks of columns and never stand whole, but where a team shares a
// product. Precondition: the model has a vocabulary head.
void Predict(const Weights& weights, int64_t k, std::span<const NextToken> asked,
             Activations* activations, Candidate* best);

// Of rows [first, first + count) in hidden_RD: logits [count, V], and the log-sum-exp of each row.
// Give the bits of Predict. Precondition: the model has a vocabulary head.
void AllLogits(const Weights& weights, int64_t first, int64_t count, Activations* activations,
               float* logits_CV, double* log_sums_C);

// All logits [rows, V] of the first `rows` in hidden_RD.
void Logits(const Weights& weights, int64_t rows, Activations* activations, float* logits_RV);

}  // namespace attend

#endif  // ATTEND_ENGINE_OUTPUT_LAYER_H_
