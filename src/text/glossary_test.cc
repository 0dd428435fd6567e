#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "attend/error.h"
#include "attend/translator.h"
#include "text/term_finder.h"

namespace attend {
namespace {

// What is found, as "text=target|target".
std::vector<std::string> FoundIn(const std::string& text, std::vector<GlossaryTerm> terms) {
  const Glossary glossary(std::move(terms));
  std::vector<std::string> all;
  for (const FoundTerm& found : glossary.finder().Find(text)) {
    std::string one = text.substr(found.begin, found.end - found.begin) + "=";
    for (const TermTarget& target : found.targets)
      one += (one.ends_with('=') ? "" : "|") + target.text + (target.inflect ? "*" : "");
    all.push_back(one);
  }
  return all;
}
using All = std::vector<std::string>;

std::shared_ptr<const Glossary> LoadText(const std::string& text) {
  const std::string path = testing::TempDir() + "glossary.tsv";
  std::ofstream(path) << text;
  return Glossary::Load(path);
}

std::string GlossaryErrorOf(const std::string& text) {
  try {
    LoadText(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "";
}

TEST(GlossaryTest, FindsWholeWordsTheLongestTermFirst) {
  const std::vector<GlossaryTerm> terms = {{.source = "bank", .target = "Bank"},
                                           {.source = "central bank", .target = "Zentralbank"},
                                           {.source = "C++", .target = "C++"}};
  EXPECT_EQ(FoundIn("The central bank, a bank; riverbank banks (bank)", terms),
            (All{"central bank=Zentralbank", "bank=Bank", "bank=Bank"}));
  EXPECT_EQ(FoundIn("central  \tbank", terms), (All{"central  \tbank=Zentralbank"}));
  EXPECT_EQ(FoundIn("C++ and C++11", terms), (All{"C++=C++", "C++=C++"}));
  EXPECT_EQ(FoundIn("Bank BANK", terms), All{});
  EXPECT_EQ(FoundIn("", terms), All{});
}

TEST(GlossaryTest, FlagsWidenWhatIsFound) {
  EXPECT_EQ(FoundIn("STRASSE straße Straße",
                    {{.source = "Straße", .target = "street", .ignore_case = true}}),
            (All{"straße=street", "Straße=street"}));
  EXPECT_EQ(FoundIn("houses house housing household",
                    {{.source = "house", .target = "Haus", .inflect_source = true}}),
            (All{"houses=Haus", "house=Haus"}));
  EXPECT_EQ(FoundIn("Éclair ÉCLAIR", {{.source = "éclair", .ignore_case = true, .keep = true}}),
            (All{"Éclair=Éclair", "ÉCLAIR=ÉCLAIR"}));
  EXPECT_EQ(FoundIn("state of emergency, states of emergency",
                    {{.source = "state of emergency", .target = "Notstand", .inflect = true}}),
            (All{"state of emergency=Notstand*"}));
}

// U+0065 U+0301 is é; Japanese writes no spaces.
TEST(GlossaryTest, TextIsComparedAsUnicodeHasIt) {
  EXPECT_EQ(FoundIn("cafe\u0301 x", {{.source = "caf\u00E9", .target = "Kaffeehaus"}}),
            (All{"cafe\u0301=Kaffeehaus"}));
  EXPECT_EQ(FoundIn("東京都は", {{.source = "東京", .target = "Tokio"}}), (All{"東京=Tokio"}));
}

TEST(GlossaryTest, TermsOfOnePlaceAreAlternatives) {
  EXPECT_EQ(FoundIn("car cars", {{.source = "car", .target = "Auto"},
                                 {.source = "car", .target = "Wagen"},
                                 {.source = "Car", .target = "Kraftwagen", .ignore_case = true},
                                 {.source = "cars", .target = "Autos"},
                                 {.source = "car", .target = "Auto"}}),
            (All{"car=Auto|Wagen|Kraftwagen", "cars=Autos"}));
}

TEST(GlossaryTest, AFileHasATermALine) {
  const auto glossary =
      LoadText("# terms\n\nhouse\tHaus\nbright\thell\tinflect, ignore-case\nAttend\t\tkeep\r\n");
  ASSERT_EQ(glossary->terms().size(), 3u);
  EXPECT_EQ(glossary->terms()[0].target, "Haus");
  EXPECT_TRUE(glossary->terms()[1].inflect && glossary->terms()[1].ignore_case);
  EXPECT_FALSE(glossary->terms()[1].inflect_source || glossary->terms()[0].inflect);
  EXPECT_TRUE(glossary->terms()[2].keep);
}

TEST(GlossaryTest, ErrorsNameFileAndLine) {
  const std::string where = "'" + testing::TempDir() + "glossary.tsv' line 2";
  EXPECT_EQ(GlossaryErrorOf("a\tb\nhouse\n"),
            where +
                " has 1 column, expected 2 or 3: source, target and "
                "flags, divided by tabs");
  EXPECT_EQ(GlossaryErrorOf("a\tb\nhouse\tHaus\tplural\n"),
            where +
                ": the flag is 'plural', expected ignore-case, inflect-source, inflect or "
                "keep, divided by commas");
  EXPECT_EQ(GlossaryErrorOf("a\tb\nhouse\t\n"),
            where +
                ": 'house' has no target; give one, or the flag "
                "keep to copy the source");
  EXPECT_EQ(GlossaryErrorOf("a\tb\nX\tY\tkeep\n"),
            where + ": 'X' is to be kept as it is, but has a target; leave it or keep out");
  EXPECT_EQ(GlossaryErrorOf("a\tb\n--\tY\n"),
            where + ": the source is '--', expected one with a letter or a digit");
  EXPECT_EQ(GlossaryErrorOf("a\tb\n\xFF\tY\n"), where + " is not UTF-8; convert the file to UTF-8");
}

// Terms of the text, and how many of them the translation has.
std::pair<int64_t, int64_t> CountedIn(const std::string& text, const std::string& translation,
                                      std::vector<GlossaryTerm> terms) {
  const Glossary glossary(std::move(terms));
  const std::vector<FoundTerm> found = glossary.finder().Find(text);
  return {std::ssize(found), CountTerms(found, translation)};
}

TEST(GlossaryTest, CountsTermsThatAGivenTranslationHas) {
  const std::vector<GlossaryTerm> terms = {{.source = "house", .target = "Haus"},
                                           {.source = "bank", .target = "Bank"},
                                           {.source = "bank", .target = "Ufer"},
                                           {.source = "red", .target = "rot", .inflect = true},
                                           {.source = "ACME", .target = "", .keep = true}};
  using Counts = std::pair<int64_t, int64_t>;
  const auto counted = [&](const std::string& text, const std::string& translation) {
    return CountedIn(text, translation, terms);
  };
  EXPECT_EQ(counted("a house", "ein Haus"), Counts(1, 1));
  EXPECT_EQ(counted("a house", "ein haus, ein Hausboot"), Counts(1, 0));
  EXPECT_EQ(counted("a house, a house", "ein Haus"), Counts(2, 1));
  EXPECT_EQ(counted("a house", "Haus um Haus"), Counts(1, 1));
  EXPECT_EQ(counted("bank and bank", "die Bank am Ufer"), Counts(2, 2));  // alternatives
  EXPECT_EQ(counted("a red house", "Rotes Haus"), Counts(2, 2));
  EXPECT_EQ(counted("a red house", "rotgestrichen"), Counts(2, 0));
  EXPECT_EQ(counted("ACME", "bei ACME"), Counts(1, 1));
  EXPECT_EQ(counted("ACME", "bei Acme"), Counts(1, 0));
  EXPECT_EQ(counted("nothing", "nichts"), Counts(0, 0));
}

}  // namespace
}  // namespace attend
