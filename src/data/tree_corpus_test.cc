#include "data/tree_corpus.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "data/corpus_fixture.h"
#include "data/example_fixture.h"
#include "text/word_ids.h"

namespace attend {
namespace {

using testing::ElementsAre;

class TreeCorpusTest : public CorpusTest {};

constexpr const char* kTrees =
    "( (S (NP-SBJ (DT ab) (NN cd) (-NONE- *)) (VP (VB ef)) (. .)) )\n"
    "( (S (NP (-NONE- *))) )\n"
    "(S (X (NN ab)))\n";

TEST_F(TreeCorpusTest, ReadsTreebanks) {
  const std::string file = Write("trees", kTrees);
  const auto items = ReadTreebank({file}, /*any_tag=*/false);
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(ToLine(items[0].tree), "(S (NP (DT ab) (NN cd)) (VP (VB ef)) (. .))");
  EXPECT_EQ(items[1].origin, (Origin{0, 2}));
  EXPECT_THAT(ConstituentsIn(items), ElementsAre("NP", "S", "VP", "X"));
  EXPECT_THAT(TagsIn(items), ElementsAre(".", "DT", "NN", "VB"));
  EXPECT_THAT(PunctuationIn(items).always, ElementsAre("."));
  EXPECT_THAT(PunctuationIn(items).sometimes, ElementsAre());
  EXPECT_THAT(TagsIn(ReadTreebank({file}, /*any_tag=*/true)), ElementsAre(".", "XX"));
  EXPECT_THROW(ReadTreebank({Write("none", "(S (-NONE- *))\n")}, false), Error);
}

TEST_F(TreeCorpusTest, WordsMayBePunctuationSometimes) {
  std::string trees;
  for (int i = 0; i < 200; ++i)
    trees += fmt::format("(S ({} :) ({} -) ({} /))\n", i % 4 == 0 ? "HYPH" : ":",
                         i == 0 ? ":" : "HYPH", i < 2 ? "SYM" : ",");
  const PunctuationWords words = PunctuationIn(ReadTreebank({Write("trees", trees)}, false));
  EXPECT_THAT(words.always, ElementsAre());
  EXPECT_THAT(words.sometimes, ElementsAre("/", ":"));  // "-" was one in 200
}

TEST_F(TreeCorpusTest, AnExampleKnowsWhereTheNextWordBegins) {
  const std::string file = Write("trees", kTrees);
  const auto& vocabulary = vocabulary_;
  const SpecialIds special = vocabulary->special_ids();
  const TreeSymbols symbols({"NP", "S", "VP"}, {".", "DT", "NN", "VB"}, special);
  const TreeCorpus corpus({file}, vocabulary, ReadTreebank({file}, false), symbols,
                          {.max_tokens = 100});
  ASSERT_EQ(corpus.table().size(), 1);
  EXPECT_EQ(corpus.unknown_labels().count, 1);
  const IdColumns columns = ColumnsOf(corpus.table()[0], 3);
  const SentenceIds sentence =
      EncodeSentence(*vocabulary, std::vector<std::string>{"ab", "cd", "ef", "."}, 100);
  EXPECT_EQ(columns[0], sentence.ids);
  EXPECT_EQ(columns[1].front(), special.bos);
  EXPECT_EQ(columns[1].back(), special.eos);
  EXPECT_EQ(symbols.ToText(std::span(columns[1]).subspan(1, columns[1].size() - 2)),
            "(S (NP DT NN NP) (VP VB VP) . S)");
  const std::vector<int32_t>& at = sentence.words;
  // After bos (S (NP DT NN NP) (VP VB VP) . S)
  EXPECT_THAT(columns[2], ElementsAre(at[0], at[0], at[0], at[1], at[2], at[2], at[2], at[3], at[3],
                                      at[4], at[4]));
  const TreeCorpus cut({file}, vocabulary, ReadTreebank({file}, false), symbols, {.max_tokens = 2});
  EXPECT_EQ(cut.longer().count, 1);
}

// Over four epochs each tree comes four times its file's weight, and its examples stay whole.
TEST_F(TreeCorpusTest, WeightsAreHowOftenAnEpochUsesAFile) {
  std::string trees;
  for (int i = 0; i < 200; ++i) trees += "(S (NN ab) (VB cd))\n";
  const std::vector<std::string> files = {Write("a", trees), Write("b", trees), Write("c", trees)};
  const std::vector<double> weights = {1, 0.25, 2.5};
  const TreeSymbols symbols({"S"}, {"NN", "VB"}, vocabulary_->special_ids());
  const TreeCorpus corpus(files, vocabulary_, ReadTreebank(files, false), symbols,
                          {.max_tokens = 100, .weights = weights, .seed = 3});
  const IdColumns whole = ColumnsOf(corpus.table()[0], 3);
  std::map<std::pair<int64_t, int64_t>, int64_t> counts;
  const auto windows = corpus.Open(0, {}, {});
  std::vector<std::vector<int64_t>> of_epochs;
  for (int epoch = 0; epoch < 4; ++epoch) {
    const WindowWork work = windows->Next();
    EXPECT_TRUE(work.last);
    const Window window = work.make();
    std::vector<int64_t>& of_file = of_epochs.emplace_back(3);
    for (int64_t row = 0; row < window.examples->size(); ++row) {
      const Example example = (*window.examples)[row];
      EXPECT_EQ(ColumnsOf(example, 3), whole);
      ++counts[{example.origin().file, example.origin().line}];
      ++of_file[example.origin().file];
    }
    EXPECT_EQ(of_file[0], 200);
    EXPECT_NEAR(static_cast<double>(of_file[1]), 50, 25);
    EXPECT_NEAR(static_cast<double>(of_file[2]), 500, 30);
  }
  EXPECT_EQ(counts.size(), 600U);
  for (const auto& [line, count] : counts)
    EXPECT_EQ(static_cast<double>(count), 4 * weights[line.first]);
  // A reader that opens in the middle has the same.
  EXPECT_EQ(corpus.Open(2, {}, {})->Next().make().examples->size(),
            of_epochs[2][0] + of_epochs[2][1] + of_epochs[2][2]);
}

}  // namespace
}  // namespace attend
