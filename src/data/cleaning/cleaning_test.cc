#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unordered_set>

#include "attend/error.h"
#include "base/random.h"
#include "data/cleaning/cleaning_report.h"
#include "data/cleaning/cleaning_rules.h"
#include "data/cleaning/line_facts.h"
#include "data/cleaning/seen_hashes.h"

namespace attend {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LineFactsTest, CountsWordsOfScriptsWithAndWithoutSpaces) {
  const auto words = [](std::string_view line) { return FactsOf(line, {}).words; };
  EXPECT_EQ(words(""), 0);
  EXPECT_EQ(words(" \t\u3000 "), 0);
  EXPECT_EQ(words("Ein  Hund rennt ."), 4);
  EXPECT_EQ(words("私は学生。"), 4);
  EXPECT_EQ(words("iPhoneを買う now"), 4);
  EXPECT_EQ(words("ภาษาไทย"), 2);  // seven letters, four a word
}

TEST(LineFactsTest, CountsLettersOfTheScripts) {
  const LineFacts facts = FactsOf("Мир, e\u0301 12", ScriptsOf("ru", "source_language"));
  EXPECT_EQ(facts.letters, 5);     // with the accent
  EXPECT_EQ(facts.in_scripts, 4);  // which belongs to no script
  EXPECT_EQ(facts.characters, 8);
  EXPECT_EQ(facts.longest_word, 4);
  EXPECT_FALSE(facts.malformed);
  EXPECT_TRUE(FactsOf("a\x07", {}).malformed);
  EXPECT_TRUE(FactsOf("a\uFFFD", {}).malformed);
  EXPECT_TRUE(FactsOf("a\u0085", {}).malformed);
  EXPECT_FALSE(FactsOf("a\tb", {}).malformed);
  // Format characters belong to good text: a Persian verb, soft hyphens, a byte order mark.
  for (const char* const good : {"او می\u200Cرود", "क\u200Dष", "Donau\u00ADdampf", "\uFEFFmir"})
    EXPECT_FALSE(FactsOf(good, {}).malformed) << good;
  const LineFacts japanese = FactsOf("カメラと本", ScriptsOf("ja", "source_language"));
  EXPECT_EQ(japanese.in_scripts, japanese.letters);
  EXPECT_EQ(ScriptsOf("sr-Latn", "x"), ScriptsOf("de", "x"));
  EXPECT_NE(ScriptsOf("sr", "x"), ScriptsOf("de", "x"));
  EXPECT_THROW(ScriptsOf("", "x"), Error);
  EXPECT_THROW(ScriptsOf("no language", "x"), Error);
}

TEST(LineFactsTest, BareTextTellsNoCaseSpacesAndPunctuationApart) {
  EXPECT_EQ(BareText("A dog, 12!"), "adog12");
  EXPECT_EQ(BareText("Straße ﬁne e\u0301"), BareText("STRASSE fine \u00E9"));
  EXPECT_NE(BareText("schon"), BareText("schön"));
  EXPECT_EQ(BareText("..."), "...");
}

TEST(LineFactsTest, NumbersAreTheirDigits) {
  EXPECT_THAT(NumbersOf("1,000.5 at 3:15, ٣ times. 2"), ElementsAre("10005", "2", "3", "315"));
  EXPECT_THAT(NumbersOf("no"), IsEmpty());
  EXPECT_EQ(NumbersOf("7. 8, 9"), NumbersOf("9 8 7"));
}

TEST(SeenHashesTest, IsASetOfBoundedSize) {
  SeenHashes seen(int64_t{1} << 20);
  std::unordered_set<uint64_t> expected;
  Random random({7});
  for (int i = 0; i < 20000; ++i) {
    const uint64_t hash = random.Next() % 15000 << 40;  // equal low bits
    if (hash == 0) continue;
    EXPECT_EQ(seen.Has(hash), expected.contains(hash)) << i;
    EXPECT_EQ(seen.Add(hash), expected.insert(hash).second) << i;
  }
  EXPECT_EQ(seen.count(), std::ssize(expected));
  const auto fill = [&] {
    for (uint64_t hash = 1; hash < 200000; ++hash) seen.Add(hash);
  };
  EXPECT_THROW(fill(), Error);
}

TEST(CleaningRulesTest, AsksForTheLanguageOfTheSidesThatHaveOne) {
  CleaningOptions options;
  options.target_language = "de";
  const CleaningRules rules(options, [](std::string_view text, const std::string& code) {
    return code == "de" && text == "A dog runs.";
  });
  const auto judge = [&](std::string_view source, std::string_view target) {
    return rules.Judge(std::vector{source, target}).fault;
  };
  EXPECT_EQ(judge("A dog runs.", "Ein Hund rennt."), Fault::kNone);
  EXPECT_EQ(judge("Ein Hund rennt.", "A dog runs."), Fault::kLanguage);
}

TEST(CleaningReportTest, NamesReasonsAndShowsAFewLines) {
  CleaningReport report;
  for (int64_t line = 1; line <= 9; ++line)
    report.Add(line % 3 == 0 ? Fault::kNone : Fault::kTooLong, line,
               std::vector<std::string_view>{"a|b", "c"});
  EXPECT_EQ(report.Text(), "9 lines, 3 kept (33.3 %); dropped: 6 too long");
  const Json json = report.ToJson();
  EXPECT_EQ(json["dropped"]["too_long"]["count"], 6);
  EXPECT_EQ(json["dropped"]["too_long"]["examples"].size(), CleaningReport::kShown);
  EXPECT_EQ(json["dropped"]["too_long"]["examples"][2]["line"], 4);
  EXPECT_THAT(report.Markdown(), testing::HasSubstr("| too long | 1 | a\\|b | c |"));
  EXPECT_EQ(CleaningReport().Text(), "0 lines, 0 kept (0.0 %)");
}

}  // namespace
}  // namespace attend
