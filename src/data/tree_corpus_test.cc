#include "data/tree_corpus.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

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
  const TreeCorpus corpus({file}, vocabulary, ReadTreebank({file}, false), symbols, 100);
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
  const TreeCorpus cut({file}, vocabulary, ReadTreebank({file}, false), symbols, 2);
  EXPECT_EQ(cut.longer().count, 1);
}

}  // namespace
}  // namespace attend
