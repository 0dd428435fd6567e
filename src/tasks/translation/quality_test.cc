#include "tasks/translation/quality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "attend/scorer.h"
#include "attend/vocabulary.h"
#include "model/model_directory.h"
#include "tasks/translation/line_batch.h"
#include "text/lines.h"

namespace attend {
namespace {

using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

const std::shared_ptr<const Model>& GoldenModel() {
  static const auto model = LoadModel(ATTEND_SOURCE_DIR "/tests/data/golden_v1");
  return model;
}

const std::vector<std::string>& Texts() {
  static const std::vector<std::string> texts = {
      "lumi tavo keri", "sona mipa, rudu vesta!", "keri", "***", "tavo tavo lumi sona", ""};
  return texts;
}

std::vector<TranslationOptions> Searches() {
  std::vector<TranslationOptions> all(5);
  all[0].n_best = 3;
  all[1].beam_size = 1;
  all[1].scores = false;
  all[2].sample = true;
  all[2].n_best = 3;
  all[2].temperature = 2;
  all[3].max_length = 2;  // cuts
  all[4].mbr = MbrUtility::kChrf;
  all[4].mbr_samples = 4;
  for (TranslationOptions& options : all) options.quality = true;
  return all;
}

TEST(QualityTest, WordsHaveTheProbabilitiesOfTheirTokens) {
  Hypothesis hypothesis;
  const std::vector<double> logs = {std::log(0.5), std::log(0.4), std::log(0.9), std::log(0.25)};
  SetQuality(logs, std::vector<int64_t>{0, 0, 1}, &hypothesis);
  EXPECT_NEAR(hypothesis.quality, 100 * std::pow(0.5 * 0.4 * 0.9 * 0.25, 0.25), 1e-9);
  EXPECT_THAT(hypothesis.word_quality, ElementsAre(DoubleNear(20, 1e-9), DoubleNear(90, 1e-9)));
  EXPECT_THAT(hypothesis.DoubtfulWords(), ElementsAre(0));
  SetQuality(std::span(logs).first(2), std::vector<int64_t>{0, 1, 2}, &hypothesis);  // cut
  EXPECT_THAT(hypothesis.word_quality,
              ElementsAre(DoubleNear(50, 1e-9), DoubleNear(40, 1e-9), 0.0));
  SetQuality({}, {}, &hypothesis);
  EXPECT_EQ(hypothesis.quality, 0);
}

TEST(QualityTest, AMeanCountsAllTokens) {
  MeanQuality mean;
  mean.Add({.ids = {5, 6, 7}, .quality = 81});
  mean.Add({.ids = {5}, .quality = 50});
  mean.Add({.quality = 100});  // copied
  EXPECT_NEAR(mean.Value(), 100 * std::pow(std::pow(0.81, 4) * std::pow(0.5, 2), 1.0 / 7), 1e-9);
  MeanQuality none;
  none.Add({.ids = {5, 6, 7}, .quality = 81});
  none.Add({.finished = false, .quality = 0});
  EXPECT_EQ(none.Value(), 0);
}

// By a forced decoding of the ids alone, for every kind of search.
TEST(QualityTest, EqualsWhatAScorerSays) {
  const Translator translator(GoldenModel(), TranslatorOptions{});
  const Scorer scorer(GoldenModel(), 1);
  const auto vocabulary =
      Vocabulary::FromBytes(GoldenModel()->target_vocabulary, "the target vocabulary");
  for (const TranslationOptions& options : Searches()) {
    for (const std::string& text : Texts()) {
      const std::vector<std::vector<int32_t>> source = {translator.Encode(text)};
      const Translation translation = translator.Translate({&text, 1}, options)[0];
      for (const Hypothesis& hypothesis : translation.hypotheses) {
        if (hypothesis.ids.empty()) {
          EXPECT_EQ(hypothesis.quality, 100);
          EXPECT_THAT(hypothesis.word_quality, Each(100.0));
          continue;
        }
        const std::vector<std::vector<int32_t>> target = {hypothesis.ids};
        std::vector<double> tokens = scorer.ScoreIds(source, target)[0].token_log_probabilities;
        if (!hypothesis.finished) tokens.pop_back();
        double sum = 0;
        for (const double token : tokens) sum += token;
        EXPECT_DOUBLE_EQ(hypothesis.quality,
                         100 * std::exp(sum / static_cast<double>(tokens.size())));
        const std::vector<int64_t> words = vocabulary->WordsOfIds(hypothesis.ids);
        if (words.back() < 0) continue;
        double last = 0;
        for (size_t i = 0; i < words.size(); ++i) last += words[i] == words.back() ? tokens[i] : 0;
        ASSERT_EQ(std::ssize(hypothesis.word_quality), words.back() + 1);
        EXPECT_DOUBLE_EQ(hypothesis.word_quality.back(), 100 * std::exp(last));
      }
    }
  }
}

TEST(QualityTest, IsTheSameInAnyBatchAndNothingWhereNobodyAsks) {
  const Translator one(GoldenModel(), {.threads = 1}), three(GoldenModel(), {.threads = 3});
  for (TranslationOptions options : Searches()) {
    const auto together = three.Translate(Texts(), options);
    for (size_t i = 0; i < Texts().size(); ++i) {
      const Hypothesis alone = one.Translate({&Texts()[i], 1}, options)[0].hypotheses[0];
      EXPECT_EQ(together[i].hypotheses[0].quality, alone.quality);
      EXPECT_EQ(together[i].hypotheses[0].word_quality, alone.word_quality);
    }
    options.quality = false;
    const auto plain = three.Translate(Texts(), options);
    for (size_t i = 0; i < Texts().size(); ++i) {
      EXPECT_EQ(plain[i].hypotheses[0].text, together[i].hypotheses[0].text);
      EXPECT_EQ(plain[i].hypotheses[0].quality, 0);
      EXPECT_THAT(plain[i].hypotheses[0].word_quality, IsEmpty());
    }
  }
}

TEST(QualityTest, ALineHasTheWordsOfItsSentences) {
  const Translator translator(GoldenModel(), TranslatorOptions{});
  const TranslationOptions options{.quality = true};
  LineBatch batch(&translator, *GoldenModel(),
                  {.split_sentences = SentenceSplitting::kAlways, .keep_line_ends = false});
  batch.Add("  Lumi tavo keri. Sona mipa. ", "line 1");
  const Hypothesis line = batch.Translate(options)[0].hypotheses[0];
  EXPECT_EQ(std::ssize(line.word_quality), std::ssize(WordEnds(line.text))) << line.text;
  const std::vector<std::string> sentences = {"Lumi tavo keri.", "Sona mipa."};
  const auto parts = translator.Translate(sentences, options);
  MeanQuality mean;
  std::vector<double> words;
  for (const Translation& part : parts) {
    mean.Add(part.hypotheses[0]);
    const std::vector<double>& more = part.hypotheses[0].word_quality;
    words.insert(words.end(), more.begin(), more.end());
  }
  EXPECT_DOUBLE_EQ(line.quality, mean.Value());
  EXPECT_EQ(line.word_quality, words);
}

}  // namespace
}  // namespace attend
