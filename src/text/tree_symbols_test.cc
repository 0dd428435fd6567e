#include "text/tree_symbols.h"

#include <gmock/gmock.h>

#include "base/random.h"

namespace attend {
namespace {

using testing::ElementsAre;

const std::vector<std::string> kConstituents = {"NP", "S", "VP"}, kTags = {"DT", "NN", "VBZ"};
const char* const kTree = "(S (NP (DT The) (NN cat)) (VP (VBZ sits)))";

TEST(TreeSymbols, LeaveOutSpecialIds) {
  const TreeSymbols usual(kConstituents, kTags, SpecialIds{});
  EXPECT_EQ(usual.size(), 13);
  EXPECT_EQ(usual.Opening(0), 4);
  EXPECT_EQ(usual.Closing(2), 9);
  EXPECT_EQ(usual.Tag(2), 12);
  const TreeSymbols berts(kConstituents, kTags, {.pad = 0, .unk = 3, .bos = 5, .eos = 14});
  EXPECT_EQ(berts.size(), 15);
  EXPECT_THAT(berts.Linearized(TreeOfLine(kTree, "")), ElementsAre(2, 1, 9, 10, 6, 4, 11, 8, 7));
  EXPECT_EQ(berts.kind(5), SymbolKind::kSpecial);
  EXPECT_EQ(berts.kind(12), SymbolKind::kSpecial);
  EXPECT_EQ(berts.kind(11), SymbolKind::kWord);
}

TEST(TreeSymbols, GoThereAndBack) {
  const TreeSymbols symbols(kConstituents, kTags, SpecialIds{});
  const Tree tree = TreeOfLine(kTree, "");
  const std::vector<int32_t> ids = symbols.Linearized(tree);
  EXPECT_EQ(symbols.ToText(ids), "(S (NP DT NN NP) (VP VBZ VP) S)");
  Tree back;
  ASSERT_TRUE(symbols.TreeOf(ids, tree.Words(), &back));
  EXPECT_EQ(back, tree);
  EXPECT_THAT(symbols.Linearized(TreeOfLine("(S (X (DT a)) (Y b))", "")),
              ElementsAre(symbols.Opening(1), -1, symbols.Tag(0), -1, -1, symbols.Closing(1)));
}

// Of all rows of symbols those alone are trees that Linearized gives back.
TEST(TreeSymbols, AreATreeOrNone) {
  const TreeSymbols symbols({"A", "B"}, {"t"}, SpecialIds{});
  const std::vector<std::string> words = {"x", "y"};
  Random random({7});
  int64_t trees = 0;
  for (int64_t i = 0; i < 200000; ++i) {
    std::vector<int32_t> ids;
    for (auto left = 4 + static_cast<int64_t>(random.Uniform() * 5); left > 0; --left)
      ids.push_back(3 + static_cast<int32_t>(random.Uniform() * 6));
    Tree tree;
    if (!symbols.TreeOf(ids, words, &tree)) continue;
    ++trees;
    EXPECT_EQ(symbols.Linearized(tree), ids);
    EXPECT_EQ(TreeOfLine(ToLine(tree), ""), tree);
  }
  EXPECT_GT(trees, 20);
}

}  // namespace
}  // namespace attend
