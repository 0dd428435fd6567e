#include "text/byte_bpe.h"

#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <set>

#include "base/random.h"

namespace attend {
namespace {

using testing::ElementsAre;

std::vector<int32_t> IdsOf(const std::vector<PlacedToken>& tokens) {
  std::vector<int32_t> ids;
  for (const PlacedToken& token : tokens) ids.push_back(token.id);
  return ids;
}

std::vector<int32_t> Cut(const ByteBpe& model, std::string_view word) {
  std::vector<PlacedToken> tokens;
  model.Encode(word, &tokens);
  return IdsOf(tokens);
}

TEST(ByteBpe, SpellsBytes) {
  EXPECT_EQ(BytesOfToken("a!"), "a!");
  EXPECT_EQ(BytesOfToken("\u0120the"), " the");
  EXPECT_EQ(BytesOfToken("\u010A\u0100"), std::string("\n\0", 2));
  EXPECT_EQ(BytesOfToken("\u00C3\u00A9"), "\u00E9");
  EXPECT_EQ(BytesOfToken("\u0143"), "\xAD");
  EXPECT_EQ(BytesOfToken("a b"), std::nullopt);
  EXPECT_EQ(BytesOfToken("\u0144"), std::nullopt);
  EXPECT_EQ(BytesOfToken("\u4E2D"), std::nullopt);
}

// As its definition says: of all pairs the one with the lowest rank, the first of those, until
// none is left.
std::vector<int32_t> PlainCut(std::vector<int32_t> ids,
                              const std::vector<ByteBpeOptions::Merge>& merges) {
  while (true) {
    size_t best = merges.size(), place = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      for (size_t rank = 0; rank < best; ++rank) {
        if (merges[rank].left == ids[i] && merges[rank].right == ids[i + 1]) best = rank, place = i;
      }
    }
    if (best == merges.size()) return ids;
    ids[place] = merges[best].joined;
    ids.erase(ids.begin() + static_cast<int64_t>(place) + 1);
  }
}

TEST(ByteBpe, EqualsItsDefinition) {
  Random random{7};
  for (int round = 0; round < 50; ++round) {
    std::vector<std::string> tokens = {"a", "b", "c"};
    std::map<std::string, int32_t> ids = {{"a", 0}, {"b", 1}, {"c", 2}};
    ByteBpeOptions options;
    std::set<std::pair<int32_t, int32_t>> pairs;
    for (int i = 0; i < 20; ++i) {
      const auto left = static_cast<int32_t>(random.Below(tokens.size()));
      const auto right = static_cast<int32_t>(random.Below(tokens.size()));
      if (!pairs.emplace(left, right).second) continue;
      const std::string joined = tokens[left] + tokens[right];
      const auto [place, added] = ids.emplace(joined, static_cast<int32_t>(tokens.size()));
      if (added) tokens.push_back(joined);
      options.merges.push_back({left, right, place->second});
    }
    options.ignore_merges = round % 2 == 1;
    const ByteBpe model(tokens, options);
    for (int i = 0; i < 50; ++i) {
      std::string word;
      std::vector<int32_t> plain;
      for (uint64_t length = 1 + random.Below(20); length > 0; --length) {
        plain.push_back(static_cast<int32_t>(random.Below(3)));
        word += tokens[plain.back()];
      }
      const bool whole = options.ignore_merges && ids.contains(word);
      EXPECT_EQ(Cut(model, word),
                whole ? std::vector<int32_t>{ids[word]} : PlainCut(plain, options.merges))
          << word;
    }
  }
}

TEST(ByteBpe, OfEqualMergesTheLastCounts) {
  const std::vector<std::string> tokens = {"a", "b", "c", "ab", "bc"};
  EXPECT_THAT(Cut(ByteBpe(tokens, {{{0, 1, 3}, {1, 2, 4}}}), "abc"), ElementsAre(3, 2));
  EXPECT_THAT(Cut(ByteBpe(tokens, {{{0, 1, 3}, {1, 2, 4}, {0, 1, 3}}}), "abc"), ElementsAre(0, 4));
}

TEST(ByteBpe, BytesWithoutATokenAreUnknownOrLeftOut) {
  const std::vector<std::string> tokens = {"a", "aa", "<u>", "\u00C3"};
  ByteBpeOptions options = {{{0, 0, 1}}};
  EXPECT_THAT(Cut(ByteBpe(tokens, options), "abba"), ElementsAre(1));
  options.unk = 2;
  const ByteBpe model(tokens, options);
  EXPECT_THAT(Cut(model, "abba"), ElementsAre(0, 2, 2, 0));
  EXPECT_THAT(Cut(model, "\u00E9"), ElementsAre(3, 2));
  options.fuse_unknown = true;
  EXPECT_THAT(Cut(ByteBpe(tokens, options), "abbab"), ElementsAre(0, 2, 0, 2));
  EXPECT_THAT(model.Unknown("ab\u00E9a\u4E2Db"), ElementsAre("b\u00E9", "\u4E2Db"));
  EXPECT_THAT(model.Unknown("aa"), ElementsAre());
}

TEST(ByteBpe, DropoutLeavesMergesOut) {
  const std::vector<std::string> tokens = {"a", "b", "ab", "abab"};
  const ByteBpe model(tokens, {{{0, 1, 2}, {2, 2, 3}}});
  std::map<std::vector<int32_t>, int> cuts;
  for (uint64_t key = 0; key < 200; ++key) {
    Random random{key};
    std::vector<PlacedToken> cut;
    model.Sample("abab", 0.4, &random, &cut);
    ++cuts[IdsOf(cut)];
  }
  EXPECT_GT(cuts[{3}], 20);
  EXPECT_GT((cuts[{2, 2}]), 10);
  EXPECT_GT(cuts.size(), 2u);
  Random random{0};
  std::vector<PlacedToken> cut;
  model.Sample("abab", 1, &random, &cut);
  EXPECT_THAT(IdsOf(cut), ElementsAre(0, 1, 0, 1));
}

// In a time that grows with the square of the length this would take minutes.
TEST(ByteBpe, ALongWordTakesNoLongTime) {
  std::vector<std::string> tokens = {"a"};
  ByteBpeOptions options;
  for (int32_t id = 0; id < 12; ++id) {
    options.merges.push_back({id, id, id + 1});
    tokens.push_back(tokens.back() + tokens.back());
  }
  const ByteBpe model(tokens, options);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(Cut(model, std::string(1 << 20, 'a')).size(), (1u << 20) >> 12);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

}  // namespace
}  // namespace attend
