#include "text/tree.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "attend/error.h"
#include "base/files.h"

namespace attend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string TreebankFile(const std::string& text) {
  const std::string path = testing::TempDir() + "trees.mrg";
  std::filesystem::remove(path);
  WriteFileAtomically(path, text);
  return path;
}

std::vector<std::string> TreeLinesOf(const std::string& text) {
  TreeReader reader(TreebankFile(text));
  std::vector<std::string> lines;
  for (Tree tree; reader.Next(&tree);) lines.push_back(ToLine(tree));
  return lines;
}

std::string TreeErrorOf(const std::string& text) {
  try {
    TreeLinesOf(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string SimplifiedLine(const std::string& line) {
  return ToLine(Simplified(TreeOfLine(line, "here")));
}

TEST(Tree, IsReadFromBracketsOverLines) {
  TreeReader reader(
      TreebankFile("\n( (S \n    (NP-SBJ (DT The)\t(NN cat) )\r\n\n (VP (VBZ sits) ) (. .) "
                   "))\n(A(B b))(C (D d)) (E\n(F f"
                   ") )"));
  Tree tree;
  ASSERT_TRUE(reader.Next(&tree));
  EXPECT_EQ(reader.first_line(), 2);
  EXPECT_EQ(ToLine(tree), "( (S (NP-SBJ (DT The) (NN cat)) (VP (VBZ sits)) (. .)))");
  EXPECT_THAT(tree.Words(), ElementsAre("The", "cat", "sits", "."));
  EXPECT_THAT(tree.Tags(), ElementsAre("DT", "NN", "VBZ", "."));
  EXPECT_EQ(tree.nodes[1].end, 8);
  EXPECT_EQ(tree.nodes[2].end, 5);
  ASSERT_TRUE(reader.Next(&tree));
  EXPECT_EQ(ToLine(tree), "(A (B b))");
  ASSERT_TRUE(reader.Next(&tree));
  EXPECT_EQ(ToLine(tree), "(C (D d))");
  ASSERT_TRUE(reader.Next(&tree));
  EXPECT_EQ(reader.first_line(), 6);
  EXPECT_EQ(ToLine(tree), "(E (F f))");
  EXPECT_FALSE(reader.Next(&tree));
}

TEST(Tree, WhatIsNoneNamesItsPlace) {
  EXPECT_THAT(TreeErrorOf("(S (A a))\n(S (A a)\n(B"),
              HasSubstr("trees.mrg:3: the file ends inside the tree that "
                        "begins in line 2"));
  EXPECT_THAT(TreeErrorOf("(S (A a))\n)"), HasSubstr("trees.mrg:2: a ')' closes nothing"));
  EXPECT_THAT(TreeErrorOf("word"), HasSubstr("'word' stands outside of all brackets"));
  EXPECT_THAT(TreeErrorOf("(S (A a b))"), HasSubstr("'b' follows another word"));
  EXPECT_THAT(TreeErrorOf("(S (A a) b)"), HasSubstr("'b' follows another word or a bracket"));
  EXPECT_THAT(TreeErrorOf("(S a (A a))"), HasSubstr("a bracket follows the word 'a'"));
  EXPECT_THAT(TreeErrorOf("(S (NP ) (A a))"), HasSubstr("'(NP)' has no word"));
  EXPECT_THAT(TreeErrorOf("()"), HasSubstr("'()' has neither a label nor a word"));
  EXPECT_THAT(TreeErrorOf("(S ((A a)))"), HasSubstr("a bracket inside a tree has no label"));
  EXPECT_THAT(TreeErrorOf(std::string(2000000, '(')), HasSubstr("longer than"));
  EXPECT_THAT(TreeErrorOf(std::string(100000, '(')), HasSubstr("a tree deeper than 500 brackets"));
}

TEST(Tree, OfALineIsOne) {
  EXPECT_THROW(TreeOfLine("", "here"), Error);
  EXPECT_THROW(TreeOfLine("(A a) (B b)", "here"), Error);
  EXPECT_THROW(TreeOfLine("(A (B b)", "here"), Error);
  EXPECT_EQ(ToLine(TreeOfLine(" (A (B b)) ", "here")), "(A (B b))");
}

TEST(Tree, LosesTracesAndFunctions) {
  EXPECT_EQ(SimplifiedLine(
                "( (S (NP-SBJ-1 (-NONE- *)) (VP=2 (VB go) (ADVP|PRT (RB on)) (S (NP (-NONE- *)) "
                "(VP (-NONE- *T*-1)))) (-LRB- -LRB-)) )"),
            "(S (VP (VB go) (ADVP (RB on))) (-LRB- -LRB-))");
  // Chains of one child each stay.
  EXPECT_EQ(SimplifiedLine("(S (NP (NP (-NONE- *)) (NP (NN a))))"), "(S (NP (NP (NN a))))");
  EXPECT_EQ(SimplifiedLine("( (S (A a)) (S (B b)))"), "(TOP (S (A a)) (S (B b)))");
  EXPECT_EQ(SimplifiedLine("( (A a))"), "(TOP (A a))");
  EXPECT_TRUE(Simplified(TreeOfLine("( (S (NP (-NONE- *))))", "here")).nodes.empty());
  const Tree tree = Simplified(TreeOfLine("( (S (NP (-NONE- *) (A a)) (B b)))", "here"));
  EXPECT_EQ(tree, TreeOfLine("(S (NP (A a)) (B b))", "here"));
}

}  // namespace
}  // namespace attend
