#include "data/denoising.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "attend/error.h"
#include "text/mask_token.h"
#include "text/sentinels.h"
#include "text/vocabulary_fixture.h"

namespace attend {
namespace {

using testing::Each;
using testing::HasSubstr;
using Ids = std::vector<int32_t>;

constexpr const char* kSentences =
    "One two three four. Five six seven eight. Nine ten eleven twelve.";

std::shared_ptr<const Vocabulary> WordsWith(int64_t sentinels, bool mask) {
  VocabularyOptions options;
  options.type = VocabularyType::kWord;
  options.sentinels = sentinels;
  options.mask = mask;
  return Vocabulary::FromBytes(TrainOn({kSentences}, options), "test");
}

// A text of other ids than the marks.
Ids TextOf(int64_t count) {
  Ids ids(count);
  std::iota(ids.begin(), ids.end(), 100000);
  return ids;
}

// The spans of the output in the places of their sentinels, as T5's reader would put them.
Ids Filled(const NoisedText& text, std::span<const int32_t> sentinels) {
  std::map<int32_t, Ids> spans;
  int32_t now = -1;
  for (const int32_t id : text.output) {
    if (id < 100000) {
      EXPECT_EQ(id, sentinels[spans.size()]) << "in their order, each once";
      spans[now = id];
    } else {
      spans.at(now).push_back(id);
    }
  }
  EXPECT_TRUE(spans.at(now).empty()) << "the last one ends the output";
  spans.erase(now);
  Ids filled;
  for (const int32_t id : text.input) {
    if (id >= 100000) {
      filled.push_back(id);
      continue;
    }
    const auto span = spans.find(id);
    EXPECT_TRUE(span != spans.end() && !span->second.empty()) << "one span for each sentinel";
    if (span == spans.end()) continue;
    filled.insert(filled.end(), span->second.begin(), span->second.end());
    spans.erase(span);
  }
  EXPECT_TRUE(spans.empty());
  return filled;
}

int64_t Marks(const Ids& ids) {
  return std::ranges::count_if(ids, [](int32_t id) { return id < 100000; });
}

// Section 3.3.4 of Raffel et al.: as many tokens as the density says, in as many spans as their
// mean length says.
TEST(Denoising, SpansArePutBehindSentinels) {
  const auto vocabulary = WordsWith(100, false);
  const struct {
    double density, length;
  } settings[] = {{0, 3}, {0.15, 3}, {0.5, 3}, {0.5, 1}, {0.9, 5}, {0.3, 100}};
  for (const auto& [density, length] : settings) {
    const DenoisingOptions options{.noise_density = density, .mean_noise_span_length = length};
    const Denoising denoising(options, vocabulary, "");
    for (int64_t count = 1; count < 130; ++count) {
      const Ids ids = TextOf(count);
      for (uint64_t key = 0; key < 20; ++key) {
        const NoisedText text = denoising.AddNoise(ids, key);
        ASSERT_EQ(Filled(text, denoising.marks()), ids);
        const int64_t spans = Marks(text.input), hidden = std::ssize(text.output) - spans - 1;
        EXPECT_EQ(std::ssize(text.input) - spans, count - hidden);
        EXPECT_GE(hidden, 1);
        if (count < 3) continue;
        EXPECT_LE(std::ssize(text.output), count);
        EXPECT_LE(std::ssize(text.input), count);
        const double share = density == 0 ? 0.15 : density;
        if (count < 20 || share > 0.5) continue;
        EXPECT_EQ(hidden, std::llround(share * static_cast<double>(count)));
        if (length == 1) continue;
        EXPECT_EQ(spans, std::max(1LL, std::llround(static_cast<double>(hidden) / length)));
      }
    }
  }
}

TEST(Denoising, AnyTokenMayBeHidden) {
  const Denoising denoising({}, WordsWith(100, false), "");
  constexpr int64_t kCount = 40, kDraws = 4000;
  std::vector<double> shares(kCount, 0);
  for (uint64_t key = 0; key < kDraws; ++key) {
    for (const int32_t id : denoising.AddNoise(TextOf(kCount), key).output)
      if (id >= 100000) shares[id - 100000] += 1.0 / kDraws;
  }
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 6, 1e-6);  // 0.15 of 40
  EXPECT_THAT(shares, Each(testing::AllOf(testing::Gt(0.05), testing::Lt(0.3))));
}

TEST(Denoising, SpansAreNoMoreThanSentinels) {
  const DenoisingOptions options{.noise_density = 0.4, .mean_noise_span_length = 1};
  const Denoising denoising(options, WordsWith(4, false), "");
  const NoisedText text = denoising.AddNoise(TextOf(200), 1);
  EXPECT_EQ(Marks(text.input), 3);
  EXPECT_EQ(Filled(text, denoising.marks()), TextOf(200));
}

TEST(Denoising, TheKeyAloneDecides) {
  const auto vocabulary = WordsWith(10, true);
  for (const NoiseKind kind : {NoiseKind::kSpans, NoiseKind::kInfilling}) {
    const Denoising one({.kind = kind}, vocabulary, ""), other({.kind = kind}, vocabulary, "");
    EXPECT_EQ(one.AddNoise(TextOf(50), 7).input, other.AddNoise(TextOf(50), 7).input);
    EXPECT_NE(one.AddNoise(TextOf(50), 7).input, one.AddNoise(TextOf(50), 8).input);
  }
}

// Section 2.2 of Lewis et al.: 0.3 of the tokens, in spans of Poisson's lengths, one mask token
// each, and one for each length of 0.
TEST(Denoising, InfillingHasAMaskForEachSpan) {
  const Denoising denoising({.kind = NoiseKind::kInfilling}, WordsWith(0, true), "");
  double hidden = 0, masks = 0, tokens = 0;
  for (int64_t count = 1; count < 5000; count = count < 300 ? count + 1 : count + 97) {
    const Ids ids = TextOf(count);
    const NoisedText text = denoising.AddNoise(ids, static_cast<uint64_t>(count));
    EXPECT_EQ(text.output, ids);
    Ids shown;
    for (const int32_t id : text.input) {
      if (id >= 100000)
        shown.push_back(id);
      else
        EXPECT_EQ(id, denoising.marks()[0]);
    }
    EXPECT_TRUE(std::ranges::is_sorted(shown) && shown.size() < ids.size() + (count == 1 ? 1 : 0));
    if (count < 3) continue;
    EXPECT_LE(text.input.size(), ids.size());
    if (count < 300) continue;
    hidden += static_cast<double>(ids.size() - shown.size());
    masks += static_cast<double>(text.input.size() - shown.size());
    tokens += static_cast<double>(count);
  }
  EXPECT_NEAR(hidden / tokens, 0.3, 0.005);
  EXPECT_NEAR(hidden / masks, 3, 0.1);  // the mean length, spans of none counted
}

TEST(Denoising, SentencesAreInAnotherOrder) {
  const auto vocabulary = WordsWith(0, true);
  const DenoisingOptions options{.kind = NoiseKind::kInfilling, .permute_sentences = true};
  const Denoising denoising(options, vocabulary, "en");
  const Ids ids = vocabulary->Encode(kSentences);
  ASSERT_EQ(ids.size(), 12);
  std::set<std::vector<int64_t>> orders;
  for (uint64_t key = 0; key < 300; ++key) {
    const NoisedText text = denoising.AddNoise(ids, key);
    EXPECT_EQ(text.output, ids);
    std::vector<int64_t> order;  // of sentences of four words
    int64_t last = -1;
    for (const int32_t id : text.input) {
      if (id == denoising.marks()[0]) continue;
      const int64_t place = std::ranges::find(ids, id) - ids.begin();
      if (order.empty() || order.back() != place / 4) {
        order.push_back(place / 4);
      } else {
        EXPECT_GT(place, last);
      }
      last = place;
    }
    EXPECT_EQ(std::set<int64_t>(order.begin(), order.end()).size(), order.size());
    if (order.size() == 3) orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 6);
  // A sentence alone stays as it is.
  const Ids one = vocabulary->Encode("One two three four.");
  for (uint64_t key = 0; key < 50; ++key) {
    Ids shown = denoising.AddNoise(one, key).input;
    std::erase(shown, denoising.marks()[0]);
    EXPECT_TRUE(std::ranges::includes(one, shown, [&](int32_t a, int32_t b) {
      return std::ranges::find(one, a) < std::ranges::find(one, b);
    }));
  }
}

TEST(Denoising, VocabulariesNeedTheirMarks) {
  const auto complaint = [](const DenoisingOptions& options, const auto& vocabulary) {
    try {
      const Denoising denoising(options, vocabulary, "");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kConfiguration);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(complaint({}, WordsWith(1, true)), HasSubstr("`attend vocab --sentinels 100`"));
  EXPECT_THAT(complaint({.kind = NoiseKind::kInfilling}, WordsWith(100, false)),
              HasSubstr("`attend vocab --mask`"));
  EXPECT_EQ(complaint({}, WordsWith(2, false)), "");
}

TEST(RandomPartsTest, EachSumIsAsLikely) {
  Random random({1});
  std::map<std::vector<int64_t>, int> counts;
  for (int draw = 0; draw < 30000; ++draw) {
    const std::vector<int64_t> parts = RandomParts(4, 3, &random);
    ASSERT_EQ(parts.size(), 3);
    ASSERT_EQ(std::accumulate(parts.begin(), parts.end(), 0), 4);
    ++counts[parts];
  }
  EXPECT_EQ(counts.size(), 15);  // 6 over 2
  for (const auto& [parts, count] : counts) EXPECT_NEAR(count, 2000, 5 * std::sqrt(2000));
  EXPECT_THAT(RandomParts(0, 2, &random), testing::ElementsAre(0, 0));
  EXPECT_THAT(RandomParts(5, 1, &random), testing::ElementsAre(5));
}

TEST(RandomPoissonTest, HasPoissonsDistribution) {
  Random random({2});
  std::map<int64_t, double> counts;
  constexpr int kDraws = 100000;
  for (int draw = 0; draw < kDraws; ++draw) ++counts[RandomPoisson(3, &random)];
  double probability = std::exp(-3.0);  // of n: e^-3 3^n / n!
  for (int64_t n = 0; n < 9; probability *= 3.0 / static_cast<double>(++n))
    EXPECT_NEAR(counts[n] / kDraws, probability, 5 * std::sqrt(probability / kDraws)) << n;
}

}  // namespace
}  // namespace attend
