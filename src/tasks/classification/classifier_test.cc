#include "attend/classifier.h"

#include <gmock/gmock.h>

#include <cmath>
#include <thread>

#include "attend/error.h"
#include "attend/vocabulary.h"
#include "engine/plain_transformer.h"
#include "kernels/inference/dispatch.h"
#include "tasks/label_model_fixture.h"
#include "text/word_ids.h"

namespace attend {
namespace {

std::vector<std::string> Texts() {
  std::vector<std::string> texts = {"", "lumi tavo", "x\xFFy"};
  for (int words = 1; words < 40; words += 3) {
    std::string text;
    for (int word = 0; word < words; ++word) text += word % 3 == 0 ? " lumi" : " tavokesi";
    texts.push_back(text);
  }
  return texts;
}

class ClassifierTest : public testing::TestWithParam<std::tuple<std::string, Pooling>> {
 protected:
  std::shared_ptr<Model> model_ =
      MakeLabelModel("classification", std::get<Pooling>(GetParam()), {"a", "b", "c"});
  std::string set_ = std::get<std::string>(GetParam());
};

TEST_P(ClassifierTest, FollowsThePlainFormulas) {
  const Classifier classifier(model_, {.threads = 2, .instruction_set = set_});
  const auto vocabulary = Vocabulary::FromBytes(model_->source_vocabulary, "test");
  const std::vector<std::string> texts = Texts();
  const auto found = classifier.Classify(texts);
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto logits = Plain(*model_).EncoderLogits(EncodeCut(*vocabulary, texts[i], 1000).ids)[0];
    double sum = 0, all = 0;
    for (const double logit : logits) sum += std::exp(logit);
    for (const ClassProbability& each : found[i].classes) {
      EXPECT_NEAR(each.probability, std::exp(logits[each.label[0] - 'a']) / sum, 1e-5);
      all += each.probability;
    }
    EXPECT_NEAR(all, 1, 1e-12);
    EXPECT_GE(found[i].classes[0].probability, found[i].classes[1].probability);
    EXPECT_GE(found[i].classes[1].probability, found[i].classes[2].probability);
    EXPECT_FALSE(found[i].cut);
  }
}

TEST_P(ClassifierTest, GivesTheSameBitsWhateverSharesTheCall) {
  for (const WeightType type : {WeightType::kF32, WeightType::kInt8}) {
    const Classifier one(model_, {.threads = 1, .type = type, .instruction_set = "reference"});
    const Classifier classifier(model_, {.threads = 3, .type = type, .instruction_set = set_});
    const std::vector<std::string> texts = Texts();
    const auto all = classifier.Classify(texts);
    for (size_t i = 0; i < texts.size(); ++i) {
      const Classification alone = one.Classify({&texts[i], 1})[0];
      for (size_t k = 0; k < 3; ++k) {
        EXPECT_EQ(all[i].classes[k].label, alone.classes[k].label);
        EXPECT_EQ(all[i].classes[k].probability, alone.classes[k].probability);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ClassifierTest,
                         testing::Combine(testing::ValuesIn(AvailableInstructionSets()),
                                          testing::Values(Pooling::kFirst, Pooling::kMean)));

TEST(Classifier, WithOneThreadRunsOnTheThreadsOfItsCallers) {
  const auto model = MakeLabelModel("classification", Pooling::kMean, {"a", "b", "c"});
  const Classifier classifier(model, {.threads = 1});
  const std::vector<std::string> texts = Texts();
  const std::vector<Classification> wanted = classifier.Classify(texts);
  std::vector<std::vector<Classification>> found(4);
  std::vector<std::thread> callers;
  for (auto& mine : found)
    callers.emplace_back([&] {
      for (int i = 0; i < 20; ++i) mine = classifier.Classify(texts);
    });
  for (std::thread& caller : callers) caller.join();
  for (const auto& each : found) {
    for (size_t i = 0; i < texts.size(); ++i)
      EXPECT_EQ(each[i].classes[0].probability, wanted[i].classes[0].probability);
  }
}

// A directory may say anything of its head.
TEST(Classifier, RefusesAHeadThatIsNotForTexts) {
  const auto model = MakeLabelModel("classification", Pooling::kTokens, {"a", "b"});
  EXPECT_THROW(Classifier(model, {.threads = 1}), Error);
}

TEST(Classifier, ReadsTheBeginningOfALongText) {
  const auto model = MakeLabelModel("classification", Pooling::kFirst, {"a", "b"});
  model->config.encoder->positions = PositionKind::kLearned;
  model->config.encoder->max_positions = 6;
  model->tensors = RandomTensors(model->config, 7, 0.5);
  const Classifier classifier(model, {.threads = 1});
  const std::vector<std::string> texts = {"lumi", "lumi tavo lumi tavo lumi tavo lumi"};
  const auto found = classifier.Classify(texts);
  EXPECT_FALSE(found[0].cut);
  EXPECT_TRUE(found[1].cut);
}

TEST(Classifier, ACallThatIsStoppedEnds) {
  const Classifier classifier(MakeLabelModel("classification", Pooling::kMean, {"a", "b"}),
                              {.threads = 1});
  const std::atomic<bool> stop = true;
  EXPECT_THROW(classifier.Classify(Texts(), &stop), Error);
}

}  // namespace
}  // namespace attend
