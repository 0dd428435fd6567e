// What each head looks at, over many texts: how widely, how far, and how often at its neighbours.
#ifndef ATTEND_CLI_ATTENTION_VIEW_STATISTICS_H_
#define ATTEND_CLI_ATTENTION_VIEW_STATISTICS_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cli/attention_view/attention_view.h"

namespace attend {

// Names of the figures of a head, means over all queries: the entropy of its weights in nats, how
// many tokens what it looks at is away, and the share of its weight on the token before, after and
// at the query's place, on the first token and on the last that it sees.
inline constexpr std::array<std::string_view, 7> kAttentionFigures = {
    "entropy", "distance", "previous", "next", "same", "first", "last"};
using AttentionFigures = std::array<double, kAttentionFigures.size()>;

// One query's, which stands at `place` and sees these keys.
AttentionFigures FiguresOf(std::span<const float> weights, size_t place);

// One owner.
class AttentionStatistics {
 public:
  struct Kind {
    std::string name, title;
    int64_t queries = 0;
    std::vector<std::vector<AttentionFigures>> heads;  // [layers][heads], means
    AttentionFigures even;  // of attention that is spread evenly over what a query sees
  };

  void Add(const AttentionView& view);
  int64_t texts() const { return texts_; }
  std::vector<Kind> kinds() const;

 private:
  int64_t texts_ = 0;
  std::vector<Kind> sums_;
};

// {"texts", "kinds": {NAME: {"queries", "even", "layers": [[{FIGURE: number}]]}}}
Json StatisticsToJson(const AttentionStatistics& statistics);
// A line for each head, for people.
std::string StatisticsToText(const AttentionStatistics& statistics);
// For each kind a panel for each figure, which has a row for each layer and a column for each head.
std::string StatisticsToSvg(const AttentionStatistics& statistics);

}  // namespace attend

#endif  // ATTEND_CLI_ATTENTION_VIEW_STATISTICS_H_
