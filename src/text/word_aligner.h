// Which words of parallel text are translations of each other: IBM Model 2 with a prior that
// prefers the diagonal and a variational estimate of word translations (Dyer, Chahuneau and Smith
// 2013), in both directions, which are joined (Koehn, Och and Marcu 2003).
#ifndef ATTEND_TEXT_WORD_ALIGNER_H_
#define ATTEND_TEXT_WORD_ALIGNER_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace attend {

// Ids of the words of both sides, from 1.
struct WordPair {
  std::vector<int32_t> source, target;
};

// (source, target), each counted from 0, rising.
using WordLinks = std::vector<std::pair<int32_t, int32_t>>;

// One direction: each target word comes from one source word or from none.
class DirectedAligner {
 public:
  // The pairs must outlive it.
  explicit DirectedAligner(std::span<const WordPair> pairs);

  // Expectation and maximisation, so many times.
  void Train(int64_t iterations);
  // t(target | source); source 0 stands for none. 0 for words that never stand beside each other.
  double Probability(int32_t source, int32_t target) const;
  // For each target word the likeliest source word, counted from 0; -1: none.
  std::vector<int32_t> Align(const WordPair& pair) const;

 private:
  // Of a target word: from none first, then from each source word of its pair.
  struct Origins {
    std::vector<int64_t> places;  // in probabilities_; -1: never seen together
    std::vector<double> weights;  // how likely it comes from there, up to a factor
  };

  int64_t PlaceOf(int32_t source, int32_t target) const;
  void Weigh(const WordPair& pair, int64_t place, Origins* origins) const;
  void Expect(const WordPair& pair, std::vector<double>* counts) const;
  void Maximize(const std::vector<double>& counts);

  std::span<const WordPair> pairs_;
  std::vector<int64_t> begins_;   // by source: where its targets begin
  std::vector<int32_t> targets_;  // of each source, rising
  std::vector<double> probabilities_;
};

// What both directions share, grown by neighbours that one of them has, then links of words that
// have none ("grow-diag-final-and"). `backward` is of the target's words.
WordLinks JoinDirections(std::span<const int32_t> forward, std::span<const int32_t> backward);

// Of each pair; a side longer than kMostAlignedWords leaves its pair without links.
inline constexpr int64_t kMostAlignedWords = 250;
std::vector<WordLinks> LinkWords(std::vector<WordPair> pairs, int64_t iterations);

}  // namespace attend

#endif  // ATTEND_TEXT_WORD_ALIGNER_H_
