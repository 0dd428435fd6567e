#include "text/term_annotation.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "text/lines.h"

namespace attend {
namespace {

// Each term as "source=target|target".
std::vector<std::string> WithTargets(const std::string& text, const std::vector<FoundTerm>& terms) {
  std::vector<std::string> all;
  for (const FoundTerm& term : terms) {
    std::string one = text.substr(term.begin, term.end - term.begin) + "=";
    for (const TermTarget& target : term.targets)
      one += (one.ends_with('=') ? "" : "|") + target.text;
    all.push_back(one);
  }
  return all;
}

TEST(TermAnnotationTest, TermsStandBehindTheirSources) {
  const std::string text = "A (guinea pig), in x.";
  const std::vector<GlossaryTerm> terms = {{.source = "guinea pig", .target = "Meerschweinchen"},
                                           {.source = "x", .target = "dem X"}};
  const Glossary glossary(terms);
  const AnnotatedText annotated = WithTerms(text, glossary.finder().Find(text));
  EXPECT_EQ(
      annotated.text,
      "A ( <term> guinea pig <is> Meerschweinchen </term> ), in <term> x <is> dem X </term> .");
  // Each word as itself; tokens and targets as the word before or after.
  EXPECT_EQ(annotated.words,
            (std::vector<int64_t>{0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 4, 4, 4, 4, 4, 4, 4}));
  EXPECT_EQ(CountWords(annotated.text), std::ssize(annotated.words));
}

TEST(TermAnnotationTest, ATextWithoutTermsStaysAsItIs) {
  const AnnotatedText plain = WithTerms("a  b", {});
  EXPECT_EQ(plain.text, "a  b");
  EXPECT_EQ(plain.words, (std::vector<int64_t>{0, 1}));
}

TEST(TermAnnotationTest, APairHasTheTermsWhoseTargetsStandInTheTranslation) {
  const PairTerms pairs(std::make_shared<const Glossary>(
      std::vector<GlossaryTerm>{{.source = "car", .target = "Auto"},
                                {.source = "car", .target = "Wagen"},
                                {.source = "bright", .target = "hell", .inflect = true},
                                {.source = "house", .target = "Haus"},
                                {.source = "Attend", .keep = true}}));
  const std::string source = "The bright car of Attend near the house";
  EXPECT_EQ(WithTargets(source, pairs.Find(source, "Der helle Wagen von Attend bei den Häusern")),
            (std::vector<std::string>{"bright=hell", "car=Wagen", "Attend=Attend"}));
  EXPECT_TRUE(pairs.Find(source, "Etwas anderes").empty());
}

TEST(TermAnnotationTest, PhrasesHaveNoLinksToTheOutside) {
  const std::string source = "A small house, near here",
                    target = "Ein kleines Haus hier in der Nähe";
  // Every consistent pair of up to 3 words, by hand: not "house, near", for the comma; not "near",
  // whose words of the target are four; "here" goes with "hier".
  EXPECT_EQ(WithTargets(source, PhrasesOfPair(source, target,
                                              {{0, 0}, {1, 1}, {2, 2}, {3, 4}, {3, 6}, {4, 3}})),
            (std::vector<std::string>{"small=kleines", "small house=kleines Haus", "house=Haus",
                                      "near=in der Nähe", "here=hier"}));
  // A word with a link to elsewhere takes its neighbour's phrase with it.
  EXPECT_EQ(WithTargets("small house",
                        PhrasesOfPair("small house", "kleines Haus", {{0, 0}, {0, 1}, {1, 1}})),
            (std::vector<std::string>{"small house=kleines Haus"}));
  EXPECT_TRUE(PhrasesOfPair("small house", "kleines Haus", {}).empty());
  // A target neither begins nor ends with a word without letters.
  EXPECT_TRUE(PhrasesOfPair("a house", "Haus . Es hat 5 %", {{1, 0}, {1, 1}}).empty());
  EXPECT_TRUE(PhrasesOfPair("a house", "Das - Haus", {{1, 1}, {1, 2}}).empty());
}

TEST(TermAnnotationTest, DrawsUpToSoManyWithoutOverlap) {
  const std::string source = "small house garden", target = "kleines Haus Garten";
  const auto phrases = PhrasesOfPair(source, target, {{0, 0}, {1, 1}, {2, 2}});
  ASSERT_EQ(phrases.size(), 6U);  // of one word, two and three
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random({seed});
    const auto drawn = DrawTerms(phrases, 2, &random);
    ASSERT_GE(drawn.size(), 1U);
    ASSERT_LE(drawn.size(), 2U);
    if (drawn.size() == 2) {
      EXPECT_LT(drawn[0].end, drawn[1].begin);
    }
    seen.insert(WithTerms(source, drawn).text);
  }
  EXPECT_GT(seen.size(), 6U);
  Random random({1});
  EXPECT_TRUE(DrawTerms({}, 3, &random).empty());
}

}  // namespace
}  // namespace attend
