#include "tasks/translation/bayes_risk.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "attend/metrics.h"

namespace attend {
namespace {

// Of one sentence a high order often has no match; BLEU then counts the orders that the hypothesis
// has.
std::unique_ptr<const Metric> MetricOf(MbrUtility utility) {
  if (utility == MbrUtility::kBleu)
    return std::make_unique<Bleu>(BleuOptions{.effective_order = true});
  return std::make_unique<Chrf>();
}

}  // namespace

void ChooseByUtility(MbrUtility utility, int64_t n_best, std::vector<Hypothesis>* drawn) {
  struct Text {
    Hypothesis hypothesis;
    double times = 1;  // drawn
  };
  std::vector<Text> texts;
  const auto count = static_cast<double>(drawn->size());
  for (Hypothesis& each : *drawn) {
    const auto same = std::ranges::find_if(
        texts, [&](const Text& text) { return text.hypothesis.text == each.text; });
    same == texts.end() ? texts.push_back({std::move(each)}) : void(++same->times);
  }
  const std::unique_ptr<const Metric> metric = MetricOf(utility);
  for (Text& text : texts) {
    text.hypothesis.score = 0;
    for (const Text& other : texts) {
      const double score =
          metric->Score(metric->Statistics(text.hypothesis.text, {other.hypothesis.text}));
      text.hypothesis.score += other.times / count * score;
    }
  }
  std::ranges::stable_sort(texts, std::greater<>(),
                           [](const Text& text) { return text.hypothesis.score; });
  texts.resize(std::min<size_t>(texts.size(), n_best));
  drawn->clear();
  for (Text& text : texts) drawn->push_back(std::move(text.hypothesis));
}

}  // namespace attend
