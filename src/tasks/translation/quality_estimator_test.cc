#include "tasks/translation/quality_estimator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "attend/error.h"
#include "attend/loaded_model.h"
#include "tasks/label_model_fixture.h"
#include "tasks/translation/line_batch.h"
#include "tasks/translation/quality.h"

namespace attend {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::shared_ptr<Model> Estimator(std::vector<std::string> labels = {"05", "15", "50", "95"}) {
  return MakeLabelModel("classification", Pooling::kMean, std::move(labels));
}

QualityEstimator Make(std::shared_ptr<const Model> model) {
  return {Load(std::move(model), {}), "DIR"};
}

std::string MessageFor(std::shared_ptr<const Model> model, ErrorKind kind) {
  try {
    Make(std::move(model));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "no error";
}

// The formula, from what a classifier says of the text.
double MeanLabel(const Classifier& classifier, const std::string& text) {
  const Classification found = classifier.Classify({&text, 1})[0];
  double mean = 0;
  for (const ClassProbability& each : found.classes)
    mean += std::stod(each.label) * each.probability;
  return mean;
}

TEST(QualityEstimatorTest, IsTheMeanOfLabelsByTheirProbabilities) {
  const auto model = Estimator();
  const Classifier classifier(model, {.threads = 1});
  const QualityEstimator estimator = Make(model);
  EXPECT_DOUBLE_EQ(estimator.Estimate("lumi tavo", "neri"),
                   MeanLabel(classifier, "lumi tavo ||| neri"));
  EXPECT_DOUBLE_EQ(estimator.Estimate("  lumi\t tavo ", "neri\u2028 dosa "),
                   MeanLabel(classifier, "lumi tavo ||| neri dosa"));
  EXPECT_NE(estimator.Estimate("lumi tavo", "neri"), estimator.Estimate("neri", "lumi tavo"));
  EXPECT_EQ(estimator.Estimate("lumi tavo", " "), 0);
}

TEST(QualityEstimatorTest, RefusesOtherModelsAndOtherLabels) {
  const auto golden = LoadModel(ATTEND_SOURCE_DIR "/tests/data/golden_v1");
  EXPECT_THAT(MessageFor(golden, ErrorKind::kUsage),
              HasSubstr("estimator 'DIR' is a model of translation, expected one of "
                        "classification"));
  EXPECT_THAT(MessageFor(MakePictureModel(), ErrorKind::kUsage),
              HasSubstr("a model of classification of pictures, expected"));
  for (const std::string label : {"good", "101", "-1", "nan", "5x", "5 ", "inf"}) {
    EXPECT_THAT(MessageFor(Estimator({"10", label}), ErrorKind::kInput),
                HasSubstr("has the label '" + label + "', expected numbers from 0 to 100"));
  }
  EXPECT_THAT(MessageFor(Estimator({"0", "100", "12.5"}), ErrorKind::kInput), "no error");
}

class EstimatingTranslatorTest : public FolderTest {
 protected:
  EstimatingTranslatorTest() { SaveModel(*Estimator(), options_.estimator); }

  const std::shared_ptr<const Model> golden_ = LoadModel(ATTEND_SOURCE_DIR "/tests/data/golden_v1");
  TranslatorOptions options_{.threads = 1, .estimator = (folder_ / "estimator").string()};
  const QualityEstimator estimator_ = Make(Estimator());
  const std::vector<std::string> texts_ = {"lumi tavo keri", "sona mipa, rudu vesta!", "***", ""};
};

TEST_F(EstimatingTranslatorTest, GivesTheEstimatesWhateverSharesTheCall) {
  const Translator plain(golden_, {.threads = 1}), one(golden_, options_);
  options_.threads = 3;
  const Translator three(golden_, options_);
  const TranslationOptions search{.n_best = 3, .quality = true};
  const auto expected = plain.Translate(texts_, search), together = three.Translate(texts_, search);
  for (size_t i = 0; i < texts_.size(); ++i) {
    const auto alone = one.Translate({&texts_[i], 1}, search)[0].hypotheses;
    ASSERT_THAT(together[i].hypotheses, SizeIs(expected[i].hypotheses.size()));
    for (size_t k = 0; k < alone.size(); ++k) {
      const Hypothesis &found = together[i].hypotheses[k], &own = expected[i].hypotheses[k];
      EXPECT_EQ(found.text, own.text);
      EXPECT_EQ(found.word_quality, own.word_quality);
      EXPECT_EQ(found.quality, i < 2 ? estimator_.Estimate(texts_[i], found.text) : own.quality);
      EXPECT_EQ(found.quality, alone[k].quality);
    }
  }
  EXPECT_EQ(together[2].hypotheses[0].quality, 100);             // copied
  EXPECT_EQ(one.Translate(texts_)[0].hypotheses[0].quality, 0);  // nobody asked
}

TEST_F(EstimatingTranslatorTest, ReadsTheLineWithoutItsInstructionAndEachSentence) {
  const Translator translator(golden_, options_);
  LineBatch batch(&translator, *golden_,
                  {.prefix = "tavo: ", .split_sentences = SentenceSplitting::kAlways});
  batch.Add("Lumi tavo keri. Sona mipa.", "line 1");
  const double found = batch.Translate({.quality = true})[0].hypotheses[0].quality;
  const std::vector<std::string> sentences = {"tavo: Lumi tavo keri.", "tavo: Sona mipa."};
  auto parts = translator.Translate(sentences, {.quality = true});
  MeanQuality mean;
  for (size_t i = 0; i < parts.size(); ++i) {
    Hypothesis& part = parts[i].hypotheses[0];
    part.quality = estimator_.Estimate(sentences[i].substr(6), part.text);
    mean.Add(part);
  }
  EXPECT_EQ(found, mean.Value());
}

TEST_F(EstimatingTranslatorTest, NeedsTexts) {
  const Translator translator(golden_, options_);
  const std::vector<std::vector<int32_t>> ids = {translator.Encode("lumi tavo")};
  EXPECT_EQ(translator.TranslateIds(ids)[0].hypotheses[0].quality, 0);
  EXPECT_THROW(translator.TranslateIds(ids, {.quality = true}), Error);
  // No texts at all are no ids.
  EXPECT_THAT(translator.Translate({}, {.quality = true}), IsEmpty());
  EXPECT_THAT(translator.Translate({}, {.mbr = MbrUtility::kChrf, .quality = true}), IsEmpty());
}

}  // namespace
}  // namespace attend
