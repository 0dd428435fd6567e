// Known values and properties; tests/metrics compares with sacreBLEU itself.
#include "attend/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "attend/error.h"
#include "metrics/alignment_error_rate.h"
#include "metrics/characters.h"
#include "metrics/ngrams.h"
#include "metrics/pcg64.h"
#include "metrics/ter_edits.h"
#include "text/utf8.h"

namespace attend {
namespace {

using Lines = std::vector<std::string>;

TEST(BleuTest, FollowsThePapersFormula) {
  // Papineni et al., section 2.1, candidate 1: 17 of 18 words in the three references.
  const Bleu bleu;
  const MetricStatistics statistics = bleu.Statistics(
      "It is a guide to action which ensures that the military always obeys the commands of the "
      "party",
      {"It is a guide to action that ensures that the military will forever heed Party commands",
       "It is the guiding principle which guarantees the military forces always being under the "
       "command of the Party",
       "It is the practical guide for the army always to heed the directions of the party"});
  EXPECT_EQ(statistics[2], 17);
  EXPECT_EQ(statistics[6], 18);
  EXPECT_EQ(statistics[0], 18);
  EXPECT_EQ(statistics[1], 18);  // the nearest of 16, 18 and 16
  const double expected =
      100 * std::pow(17. / 18 * statistics[3] / 17 * statistics[4] / 16 * statistics[5] / 15, 0.25);
  EXPECT_NEAR(bleu.Score(statistics), expected, 1e-9);
}

TEST(BleuTest, ClipsRepeatedWords) {
  const MetricStatistics statistics = Bleu().Statistics(
      "the the the the the the the",
      {"The cat is on the mat", "There is a cat on the mat", "the cat and the dog"});
  EXPECT_EQ(statistics[2], 2);
  EXPECT_EQ(statistics[1], 7);
}

TEST(BleuTest, PenalisesShortText) {
  EXPECT_NEAR(CorpusBleu({"a b c d e f g h"}, {"a b c d e f g h i j"}), 100 * std::exp(1 - 1.25),
              1e-9);
  EXPECT_NEAR(CorpusBleu({"a b c d"}, {"a b c d"}), 100, 1e-9);
  EXPECT_EQ(CorpusBleu({""}, {"a"}), 0);
  EXPECT_EQ(CorpusBleu({"a"}, {""}), 0);
  EXPECT_EQ(CorpusBleu({""}, {""}), 0);
}

TEST(BleuTest, NamesItsSettings) {
  EXPECT_EQ(Bleu().Signature(1), "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
  BleuOptions options{BleuTokenizer::kIntl, true, BleuSmoothing::kFloor, -1, true};
  EXPECT_EQ(Bleu(options).Signature(3),
            "nrefs:3|case:lc|eff:yes|tok:intl|smooth:floor[0.10]|version:2.6.0");
}

TEST(ChrfTest, ScoresAlikeAndUnlike) {
  EXPECT_NEAR(CorpusChrf({"the same text"}, {"the same text"}), 100, 1e-9);
  EXPECT_EQ(CorpusChrf({"abc"}, {"xyz"}), 0);
  // Characters only: precision 1 and recall 1/2 for order 1, F2 = 5/9, other orders are absent.
  EXPECT_NEAR(CorpusChrf({"a"}, {"a b"}), 100 * 5. / 9, 1e-9);
  ChrfOptions options;
  options.word_order = 2;
  EXPECT_EQ(Chrf(options).Name(), "chrF2++");
  EXPECT_EQ(Chrf(options).Signature(2),
            "nrefs:2|case:mixed|eff:yes|nc:6|nw:2|space:no|version:2.6.0");
}

TEST(TerTest, CountsEditsAndShifts) {
  EXPECT_EQ(TerEdits(U"abcd", U"abcd"), 0);
  EXPECT_EQ(TerEdits(U"abd", U"abcd"), 1);
  EXPECT_EQ(TerEdits(U"axcd", U"abcd"), 1);
  EXPECT_EQ(TerEdits(U"cdeab", U"abcde"), 1);  // one shift instead of four edits
  EXPECT_EQ(TerEdits(U"abc", U""), 3);
  EXPECT_EQ(TerEdits(U"", U"abc"), 3);
  EXPECT_EQ(TerEdits(U"", U""), 0);
  EXPECT_EQ(TerEdits(U"x", std::u32string(200, U'y')), 200);
  EXPECT_NEAR(CorpusScore(Ter(), {"a b d"}, {{"A B C D"}}), 25, 1e-9);
  EXPECT_EQ(CorpusScore(Ter(), {"a"}, {{""}}), 100);
  EXPECT_EQ(Ter().Signature(1),
            "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0");
}

TEST(NgramsTest, EqualsCountingByHand) {
  const std::vector<Symbols> sequences = {U"abababcab", U"", U"bcabab"};
  const std::vector<NgramCounts> orders = CountNgrams(sequences, 4);
  for (size_t n = 1; n <= 4; ++n) {
    std::map<Symbols, std::vector<int32_t>> expected;
    for (size_t s = 0; s < sequences.size(); ++s) {
      for (size_t i = 0; i + n <= sequences[s].size(); ++i) {
        auto& counts = expected[sequences[s].substr(i, n)];
        counts.resize(sequences.size());
        ++counts[s];
      }
    }
    std::vector<std::vector<int32_t>> found, wanted;
    for (size_t g = 0; g < orders[n - 1][0].size(); ++g) {
      found.push_back({orders[n - 1][0][g], orders[n - 1][1][g], orders[n - 1][2][g]});
    }
    for (const auto& [ngram, counts] : expected) wanted.push_back(counts);
    EXPECT_THAT(found, testing::UnorderedElementsAreArray(wanted)) << n;
  }
}

TEST(CharactersTest, LowersAsPython) {
  EXPECT_EQ(LowerCase(CodePoints("ΑΘΗΝΑΣ ΣΑΣ İIẞ STRASSE")), CodePoints("αθηνας σας i̇iß strasse"));
  EXPECT_EQ(StripRight(std::string("a b\u00a0\u2028\t\x1c")), "a b");
  EXPECT_EQ(CodePoints("a\xff"), U"a\ufffd");
}

TEST(Pcg64Test, DrawsAsNumPy) {
  // np.random.default_rng(12345).choice(1000, size=8) and default_rng(2**40 + 7).choice(3, size=8)
  Pcg64 random(12345);
  std::vector<uint32_t> drawn;
  for (int i = 0; i < 8; ++i) drawn.push_back(random.Below(1000));
  EXPECT_THAT(drawn, testing::ElementsAre(699, 227, 788, 316, 204, 797, 642, 676));
  Pcg64 other((uint64_t{1} << 40) + 7);
  drawn.clear();
  for (int i = 0; i < 8; ++i) drawn.push_back(other.Below(3));
  EXPECT_THAT(drawn, testing::ElementsAre(0, 2, 1, 0, 0, 0, 1, 2));
}

TEST(BootstrapTest, TellsSystemsApart) {
  Lines references, good, bad;
  for (int i = 0; i < 60; ++i) {
    references.push_back("line " + std::to_string(i) + " has a few words of its own");
    good.push_back(i % 10 == 0 ? "quite another thing" : references.back());
    bad.push_back(i % 3 == 0 ? "quite another thing" : references.back());
  }
  const Bleu bleu;
  const auto good_statistics = CorpusStatistics(bleu, good, {references});
  const auto bad_statistics = CorpusStatistics(bleu, bad, {references});
  EXPECT_LT(PairedBootstrap(bleu, bad_statistics, good_statistics).p_value, 0.01);
  EXPECT_EQ(PairedBootstrap(bleu, good_statistics, good_statistics).p_value, 1. / 1001);
}

TEST(CorpusTest, RefusesDifferentCounts) {
  EXPECT_THROW(CorpusBleu({"a", "b"}, {"a"}), Error);
  EXPECT_THROW(CorpusBleu({}, {}), Error);
}

TEST(PerplexityTest, IsTheInverseMeanProbability) {
  EXPECT_NEAR(Perplexity(std::log(0.25) * 6, 6), 4, 1e-12);
}

TEST(AerTest, FollowsTheFormula) {
  const Lines predicted = {"0-0 1-2  2-1", "5-5"}, gold = {"0-0\t2-1 1?2 7p7 2?1", ""};
  const Aer aer;
  const MetricStatistics sums = SumStatistics(CorpusStatistics(aer, predicted, {gold}));
  EXPECT_EQ(sums, (MetricStatistics{4, 2, 2, 3}));  // 2-1 is sure, though it is possible too
  EXPECT_NEAR(aer.Score(sums), 100 * (1 - (2 + 3) / (4. + 2)), 1e-12);
  EXPECT_EQ(aer.Details(sums), "precision 75.00 recall 100.00 (predicted = 4 sure = 2)");
  EXPECT_EQ(aer.Signature(1), "nrefs:1|swap:no");
  EXPECT_NEAR(CorpusScore(aer, {"0-1"}, {{""}}), 100, 1e-12);
  EXPECT_EQ(CorpusScore(aer, {""}, {{""}}), 0);
  EXPECT_THROW(CorpusScore(aer, {""}, {{""}, {""}}), Error);
}

TEST(AerTest, TurnsTheReferenceRound) {
  const Aer aer(AerOptions{true});
  EXPECT_EQ(aer.Statistics("1-2 0-3 4-4", {"2-1 3?0 4-5"}), (MetricStatistics{3, 2, 1, 2}));
  EXPECT_EQ(aer.Signature(1), "nrefs:1|swap:yes");
}

TEST(AerTest, ReadsLinksAndNothingElse) {
  EXPECT_EQ(ParseAlignment("a ||| b 1-1 ||| 10-2 1?1", "f:1").sure, (AlignmentLinks{{10, 2}}));
  EXPECT_TRUE(ParseAlignment("-0.5 |||", "f:1").sure.empty());
  EXPECT_EQ(ParseAlignment("1p3", "f:1").possible, (AlignmentLinks{{1, 3}}));
  EXPECT_THROW(ParsePrediction("0-0 1?1", "f:1"), Error);
  for (const char* bad :
       {"0", "0-", "-1-2", "a-b", "1-2-3", "1/2", "1?p2", "0-99999999999999999999", "-12.5"}) {
    EXPECT_THROW(ParseAlignment(bad, "f:1"), Error) << bad;
  }
}

}  // namespace
}  // namespace attend
