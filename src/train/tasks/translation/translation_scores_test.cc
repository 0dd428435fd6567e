#include "train/tasks/translation/translation_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attend/translator.h"
#include "model/model_directory.h"
#include "text/lines.h"

namespace attend {
namespace {

TEST(TranslationScoresTest, LinesAreTranslatedInOrderPartByPart) {
  const auto model = LoadModel(ATTEND_SOURCE_DIR "/tests/data/golden_v1");
  const size_t at_once = LinesAtOnce(1);
  std::vector<std::string> lines;
  for (size_t i = 0; i < 2 * at_once + 5; ++i)
    lines.push_back(i % 3 == 0 ? "a" : std::to_string(i));
  TranslationTrainOptions options;
  options.beam_size = 1;
  std::vector<size_t> counts;
  const Outputs outputs = TranslateLines(Load(model), lines, options, 1,
                                         [&](size_t count) { counts.push_back(count); });
  EXPECT_THAT(counts, testing::ElementsAre(at_once, 2 * at_once, lines.size()));
  TranslationOptions search;
  search.beam_size = 1;
  search.length_penalty = options.length_penalty;
  std::vector<std::string> expected;
  int64_t cut = 0;
  for (const Translation& each : Translator(model, {.threads = 1}).Translate(lines, search)) {
    expected.push_back(each.hypotheses.at(0).text);
    cut += each.hypotheses[0].finished ? 0 : 1;
  }
  EXPECT_EQ(outputs.lines, expected);
  EXPECT_GT(cut, 0);  // the model of random weights seldom ends by itself
  EXPECT_EQ(outputs.cut, cut);
}

}  // namespace
}  // namespace attend
