// Which target pieces translate a source piece, learned from parallel text: IBM Model 1 (Brown et
// al. 1993, section 4.1), t(target | source) by expectation maximisation, but for its NULL word:
// each target piece comes from a source piece.
#ifndef ATTEND_TEXT_LEXICON_H_
#define ATTEND_TEXT_LEXICON_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace attend {

struct LexicalEntry {
  int32_t target = 0;
  double probability = 0;
};

// Holds the ids of all pairs, and learns over the `candidates` targets that each source piece
// stands beside most often. Where more than 2^26 pairs of pieces stand beside each other, those
// seen once are forgotten now and then. One owner.
class LexiconTrainer {
 public:
  LexiconTrainer(int64_t source_size, int64_t candidates)
      : source_size_(source_size), candidates_(candidates) {}

  // Ids of one pair; source ids are below source_size. A side longer than kMostPieces tells little
  // of which piece translates which, and takes the product of both in memory and time: such a pair
  // is left out.
  static constexpr int64_t kMostPieces = 250;
  void Add(std::span<const int32_t> source, std::span<const int32_t> target);
  // Pairs that were left out.
  int64_t left_out() const { return left_out_; }

  // By source piece: targets by falling probability, equal ones by rising id.
  std::vector<std::vector<LexicalEntry>> Train(int64_t iterations = 5);

  // Target pieces by falling count, equal ones by rising id.
  std::vector<int32_t> MostFrequentTargets() const;

 private:
  using Table = std::vector<std::vector<LexicalEntry>>;  // by source, targets rising
  using Count = std::pair<uint64_t, uint32_t>;           // (source, target) and how often

  void CountPairs();
  Table Candidates();
  Table Maximize(const Table& table) const;

  int64_t source_size_, candidates_, left_out_ = 0;
  std::vector<int32_t> ids_;      // source and target of each pair in turn
  std::vector<int64_t> lengths_;  // of each of these
  std::vector<int64_t> target_counts_;
  std::vector<uint64_t> fresh_;  // pairs not yet counted
  std::vector<Count> counts_;    // rising
};

}  // namespace attend

#endif  // ATTEND_TEXT_LEXICON_H_
