#include "train/tasks/translation/measure_text.h"

#include <gtest/gtest.h>

#include "data/corpus_fixture.h"
#include "data/parallel_corpus.h"

namespace attend {
namespace {

class MeasureTextTest : public CorpusTest {
 protected:
  std::vector<CorpusColumn> Columns(const std::string& source, const std::string& target) {
    return {SourceColumn({source}, vocabulary_), TargetColumn({target}, vocabulary_)};
  }
  int64_t Tokens(const std::string& line) const { return std::ssize(vocabulary_->Encode(line)); }
};

TEST_F(MeasureTextTest, QuantilesOfWhatFiltersKeep) {
  // 100 pairs: target twice as long as source; 7 sources of two sentences; one very long target.
  std::string source, target;
  for (int line = 0; line < 99; ++line) {
    source += std::string(1 + line, 'e') + (line >= 7 && line < 14 ? ". Fe.\n" : "\n");
    target += std::string(2 + 2 * line, 'e') + "\n";
  }
  source += "e\n\n";
  target += std::string(400, 'e') + "\nfed\n";  // and one that is dropped
  for (const bool streamed : {false, true}) {
    const auto columns = Columns(Write("s", source), Write("t.gz", target));
    std::unique_ptr<LineCorpus> corpus;
    if (streamed) {
      corpus = std::make_unique<StreamedCorpus>(columns, CorpusFilters{.max_length = 0},
                                                StreamOptions{}, 2);
    } else {
      corpus = std::make_unique<ParallelCorpus>(columns, CorpusFilters{.max_length = 0}, 2);
    }
    const TrainingText text = MeasureText(*corpus, 1, {}, "en", 2).value();
    EXPECT_EQ(text.source_tokens.longest, Tokens(std::string(99, 'e')));
    EXPECT_EQ(text.source_tokens.p99, Tokens(std::string(98, 'e')));
    EXPECT_EQ(text.source_tokens.p90, Tokens(std::string(89, 'e')));
    EXPECT_EQ(text.target_tokens.longest, Tokens(std::string(400, 'e')));
    EXPECT_EQ(text.several_sentences, 0.07);
    const auto ratio = [&](int target_letters, int source_letters) {
      return static_cast<double>(Tokens(std::string(target_letters, 'e')) + 1) /
             static_cast<double>(Tokens(std::string(source_letters, 'e')) + 1);
    };
    EXPECT_NEAR(text.target_ratio.longest, ratio(400, 1), 1e-4);
    EXPECT_NEAR(text.target_ratio.p99, ratio(198, 99), 1e-4);
    EXPECT_FALSE(text.HasSeveralSentences());
  }
}

TEST_F(MeasureTextTest, LongFilesAreSampled) {
  std::string source, target;
  for (int line = 0; line < 120000; ++line) {
    source += line % 2 == 0 ? "ab. Fe.\n" : "ab\n";
    target += "f\n";
  }
  const ParallelCorpus corpus(Columns(Write("s", source), Write("t", target)), {}, 2);
  const TrainingText text = MeasureText(corpus, 1, {}, "", 2).value();
  EXPECT_NEAR(text.several_sentences, 0.5, 0.01);
  EXPECT_TRUE(text.HasSeveralSentences());
}

TEST_F(MeasureTextTest, NothingKeptIsNothingKnown) {
  const ParallelCorpus corpus(Columns(Write("s", "\n"), Write("t", "f\n")), {}, 2);
  EXPECT_EQ(MeasureText(corpus, 1, {}, "", 1), std::nullopt);
}

}  // namespace
}  // namespace attend
