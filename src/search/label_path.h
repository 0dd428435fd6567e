// The best sequence of labels for a sentence's words, by dynamic programming (Viterbi 1967).
#ifndef ATTEND_SEARCH_LABEL_PATH_H_
#define ATTEND_SEARCH_LABEL_PATH_H_

#include <cstdint>
#include <span>
#include <vector>

namespace attend {

// Scores of labels that follow each other, L of them; -infinity where one may not.
struct LabelTransitions {
  std::vector<float> begin_L;  // of the first word's label
  std::vector<float> end_L;    // of the last word's
  std::vector<float> next_LL;  // [label][label of the next word]

  // Every sequence may be, with a score of 0.
  static LabelTransitions Free(int64_t labels);
};

struct LabelPath {
  std::vector<int32_t> labels;
  double score = 0;  // the sum of its words' and transitions' scores
};

// `scores_TL` holds a score for each of T words and L labels. Of equal sequences the one whose last
// differing label is the lowest. Where no sequence may be, transitions are left out.
LabelPath BestLabels(std::span<const float> scores_TL, const LabelTransitions& transitions);

// How likely labels are among all sequences that may be, each of which has the probability
// exp(score) / the sum over all (forward-backward; Rabiner 1989). Where no sequence may be,
// transitions are left out.
class LabelPosterior {
 public:
  // As BestLabels has them.
  LabelPosterior(std::span<const float> scores_TL, const LabelTransitions& transitions);

  // That the words from `first_word` on have these labels; at least one.
  double Probability(int64_t first_word, std::span<const int32_t> labels) const;

 private:
  double Score(int64_t word, int32_t label) const { return scores_TL_[word * labels_ + label]; }

  int64_t labels_;
  std::vector<double> scores_TL_;
  LabelTransitions transitions_;
  std::vector<double> before_TL_;  // log-sum over the sequences up to the word, which has the label
  std::vector<double> after_TL_;   // and over what may follow it
  double all_ = 0;                 // log-sum over all sequences
};

}  // namespace attend

#endif  // ATTEND_SEARCH_LABEL_PATH_H_
