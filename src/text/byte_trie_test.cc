#include "text/byte_trie.h"

#include <gtest/gtest.h>

#include <string>

namespace attend {
namespace {

TEST(ByteTrie, FindsTheLongestText) {
  const ByteTrie trie({{"ab", 3}, {"", 9}, {"a", 1}, {"abcd", 4}, {"\xFF", 5}, {"ab", 6}});
  EXPECT_EQ(trie.Longest("abce").value, 3) << "of equal texts the first";
  EXPECT_EQ(trie.Longest("abce").size, 2u);
  EXPECT_EQ(trie.Longest("abcd").value, 4);
  EXPECT_EQ(trie.Longest("ac").size, 1u);
  EXPECT_EQ(trie.Longest("\xFFz").value, 5);
  EXPECT_EQ(trie.Longest("b").value, -1);
  EXPECT_EQ(trie.Longest("").value, -1);
  EXPECT_EQ(trie.Find("abc"), -1);
  EXPECT_EQ(trie.Find("abcd"), 4);
  EXPECT_EQ(trie.Find(""), -1);
  EXPECT_FALSE(trie.empty());
  EXPECT_TRUE(ByteTrie().empty());
  EXPECT_EQ(ByteTrie().Longest("a").value, -1);
}

}  // namespace
}  // namespace attend
