#include "model/training_text.h"

#include <string>

namespace attend {
namespace {

constexpr double kMostTokens = 1 << 30, kMostRatio = 1e6;

void Add(const std::string& prefix, const std::string& what, TrainingText::Tokens* tokens,
         FieldList* fields) {
  fields->Add(prefix + ".median", &tokens->median, 0, kMostTokens, "of half of the " + what)
      .Add(prefix + ".p90", &tokens->p90, 0, kMostTokens, "of 90 % of the " + what)
      .Add(prefix + ".p99", &tokens->p99, 0, kMostTokens, "of 99 % of the " + what)
      .Add(prefix + ".longest", &tokens->longest, 0, kMostTokens, "of all " + what);
}

}  // namespace

FieldList Fields(TrainingText& text) {
  TrainingText::Ratio& ratio = text.target_ratio;
  FieldList fields;
  Add("source_tokens", "source lines at most", &text.source_tokens, &fields);
  Add("target_tokens", "target lines at most", &text.target_tokens, &fields);
  fields.Add("target_ratio.median", &ratio.median, 0, kMostRatio, "of half of the pairs at most")
      .Add("target_ratio.p90", &ratio.p90, 0, kMostRatio, "of 90 % of the pairs at most")
      .Add("target_ratio.p99", &ratio.p99, 0, kMostRatio, "of 99 % of the pairs at most")
      .Add("target_ratio.longest", &ratio.longest, 0, kMostRatio, "of all pairs at most")
      .Add("several_sentences", &text.several_sentences, 0, 1,
           "share of source lines with several sentences");
  return fields;
}

}  // namespace attend
