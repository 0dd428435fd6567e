// Labelled brackets of constituency trees, counted as evalb counts them with its COLLINS.prm (Black
// et al. 1991; evalb by Sekine and Collins).
//
// Words whose tag is of punctuation (, : `` '' .) or of a trace are left out with their tags, and
// so are the brackets that they leave empty and those of TOP. Labels end before their first '-' or
// '='; ADVP and PRT are one. Equal brackets count as often as both trees have them. A sentence is
// skipped where no word of the tree that was found is left, and is an error where the words that
// are left differ in the two trees or one of them has unbalanced brackets: neither counts in any
// figure.
#ifndef ATTEND_METRICS_BRACKETS_H_
#define ATTEND_METRICS_BRACKETS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

// Sums over sentences.
struct BracketCounts {
  int64_t sentences = 0, errors = 0, skipped = 0;
  int64_t expected = 0, found = 0, right = 0;  // brackets of the reference, those found, in both
  int64_t complete = 0;                        // sentences all of whose brackets are right
  int64_t crossing = 0;                        // brackets found that cross one of the reference
  int64_t no_crossing = 0;                     // sentences without one
  int64_t few_crossing = 0;                    // and with two at most
  int64_t words = 0, right_tags = 0;

  int64_t valid() const { return sentences - errors - skipped; }
  // In percent; 0 where there is nothing to count.
  double precision() const;
  double recall() const;
  double f1() const;
  double exact_match() const;
  double no_crossing_share() const;
  double few_crossing_share() const;
  double tagging_accuracy() const;
  double average_crossing() const;  // brackets a sentence
  BracketCounts& operator+=(const BracketCounts& other);
};

struct BracketScores {
  // Of all sentences, and of those whose reference has at most `cutoff` words, punctuation
  // included.
  BracketCounts all, within;
};

inline constexpr int64_t kBracketCutoff = 40;  // COLLINS.prm's

// A line holds the tree of one sentence; an empty one is a sentence without a tree. Throws
// Error(kUsage) where the numbers of lines differ.
BracketScores ScoreBrackets(const std::vector<std::string>& found,
                            const std::vector<std::string>& expected,
                            int64_t cutoff = kBracketCutoff);

}  // namespace attend

#endif  // ATTEND_METRICS_BRACKETS_H_
