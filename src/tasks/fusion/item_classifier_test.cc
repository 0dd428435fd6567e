#include <gmock/gmock.h>

#include <cmath>

#include "attend/classifier.h"
#include "attend/error.h"
#include "base/random.h"
#include "kernels/inference/dispatch.h"
#include "model/sample.h"
#include "tasks/label_model_fixture.h"
#include "tasks/loaded_model.h"
#include "tasks/samples.h"

namespace attend {
namespace {

using testing::HasSubstr;

// With each of the seven sets of inputs, texts of several lengths and one link or two.
std::vector<ClassifiedItem> Items() {
  std::vector<ClassifiedItem> items;
  for (uint64_t i = 0; i < 70; ++i) {
    ClassifiedItem& item = items.emplace_back();
    const uint64_t has = i % 7 + 1;
    Random random({i});
    if ((has & 1) != 0) {
      item.text = "lumi";
      for (uint64_t word = 0; word < i % 5; ++word) *item.text += " tavo kesi";
    }
    if ((has & 2) != 0)
      for (int pixel = 0; pixel < 64; ++pixel)
        item.pixels.push_back(static_cast<uint8_t>(random.Below(256)));
    if ((has & 4) != 0) item.links = {"silk"};
    if ((has & 4) != 0 && i % 2 == 0) item.links.emplace_back("weaver");
  }
  return items;
}

double LogOf(const ItemClassification& found, const std::string& label) {
  for (const ClassProbability& each : found.classes)
    if (each.label == label) return std::log(each.probability);
  return 0;
}

class ItemClassifierTest : public testing::TestWithParam<std::string> {};

TEST_P(ItemClassifierTest, GivesTheSameBitsWhateverSharesTheCall) {
  const auto model = MakeItemModel();
  const std::vector<ClassifiedItem> items = Items();
  for (const WeightType type : {WeightType::kF32, WeightType::kInt8}) {
    const ItemClassifier one(model, {.threads = 1, .type = type, .instruction_set = "reference"});
    const ItemClassifier all(model, {.threads = 3, .type = type, .instruction_set = GetParam()});
    const auto found = all.Classify(items, /*contributions=*/true);
    ASSERT_EQ(found.size(), items.size());
    for (size_t i = 0; i < items.size(); i += 3) {
      const ItemClassification alone = one.Classify({&items[i], 1}, /*contributions=*/true)[0];
      for (size_t c = 0; c < alone.classes.size(); ++c) {
        EXPECT_EQ(found[i].classes[c].label, alone.classes[c].label);
        EXPECT_EQ(found[i].classes[c].probability, alone.classes[c].probability);
      }
      ASSERT_EQ(found[i].contributions.size(), alone.contributions.size());
      for (size_t k = 0; k < alone.contributions.size(); ++k) {
        EXPECT_EQ(found[i].contributions[k].input, alone.contributions[k].input);
        EXPECT_EQ(found[i].contributions[k].difference, alone.contributions[k].difference);
      }
    }
  }
}

TEST_P(ItemClassifierTest, GivesTheSameVectorsWhateverSharesTheCall) {
  const auto model = MakeItemModel();
  for (const WeightType type : {WeightType::kF32, WeightType::kInt8}) {
    const ItemClassifier one(model, {.threads = 1, .type = type, .instruction_set = "reference"});
    const ItemClassifier all(model, {.threads = 3, .type = type, .instruction_set = GetParam()});
    for (const EmbeddedPart part : {EmbeddedPart::kText, EmbeddedPart::kPicture}) {
      std::vector<ClassifiedItem> items = Items();
      std::erase_if(items, [&](const ClassifiedItem& item) {
        return part == EmbeddedPart::kText ? !item.text : item.pixels.empty();
      });
      const auto found = all.Embed(items, part);
      for (size_t i = 0; i < items.size(); i += 3) {
        // The other inputs say nothing.
        ClassifiedItem alone = items[i];
        alone.links = {"no node"};
        const std::vector<float> expected = one.Embed({&alone, 1}, part)[0].values_W;
        EXPECT_EQ(found[i].values_W, expected);
        double squares = 0;
        for (const float x : expected) squares += static_cast<double>(x) * x;
        EXPECT_NEAR(squares, 1, 1e-5);
      }
      EXPECT_NE(found[0].values_W, found[1].values_W);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ItemClassifierTest, testing::ValuesIn(AvailableInstructionSets()));

TEST(ItemClassifierInputs, AContributionIsWhatTheAnswerLosesWithoutTheInput) {
  const ItemClassifier classifier(MakeItemModel(), {.threads = 1});
  ClassifiedItem item = Items()[6];
  const ItemClassification whole = classifier.Classify({&item, 1}, true)[0];
  ASSERT_EQ(whole.contributions.size(), 3u);
  ClassifiedItem without = item;
  without.pixels.clear();
  const ItemClassification rest = classifier.Classify({&without, 1})[0];
  const std::string label = whole.classes[0].label;
  EXPECT_EQ(whole.contributions[1].input, "picture");
  EXPECT_NEAR(*whole.contributions[1].difference, LogOf(whole, label) - LogOf(rest, label), 1e-5);
  EXPECT_GT(std::abs(*whole.contributions[1].difference), 1e-4);
  // The only input has none.
  ClassifiedItem text;
  text.text = "lumi";
  const ItemClassification alone = classifier.Classify({&text, 1}, true)[0];
  ASSERT_EQ(alone.contributions.size(), 1u);
  EXPECT_EQ(alone.contributions[0].difference, std::nullopt);
}

// The joint encoder has no positions: the order of links says nothing.
TEST(ItemClassifierInputs, LinksAreASet) {
  const ItemClassifier classifier(MakeItemModel(), {.threads = 1});
  std::vector<ClassifiedItem> items(3);
  items[0].links = {"silk", "weaver"};
  items[1].links = {"weaver", "silk", "weaver"};
  items[2].links = {"silk", "village"};
  const auto found = classifier.Classify(items);
  EXPECT_NEAR(LogOf(found[0], "a"), LogOf(found[1], "a"), 1e-5);
  EXPECT_GT(std::abs(LogOf(found[0], "a") - LogOf(found[2], "a")), 1e-4);
}

TEST(ItemClassifierInputs, WhatCanNotBeReadIsNamed) {
  const ItemClassifier classifier(MakeItemModel(), {.threads = 1});
  std::vector<ClassifiedItem> items(2);
  items[0].text = "lumi";
  items[1].links = {"silc"};
  EXPECT_EQ(classifier.ReasonAgainst(items[0]), "");
  EXPECT_THAT(classifier.ReasonAgainst(items[1]),
              HasSubstr("link 'silc' is no node of the model's graph; did you mean 'silk'?"));
  EXPECT_THAT(classifier.ReasonAgainst({}), HasSubstr("no text, no picture and no links"));
  ClassifiedItem broken;
  broken.picture = "no picture";
  EXPECT_THAT(classifier.ReasonAgainst(broken), HasSubstr("the picture"));
  try {
    classifier.Classify(items);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("item 2: link 'silc'"));
  }
  EXPECT_THROW(Classifier(MakeItemModel(), {.threads = 1}), Error);
}

TEST(ItemClassifierInputs, AnItemWithoutThePartHasNoVector) {
  const auto model = MakeItemModel();
  std::vector<ClassifiedItem> items(2);
  items[0].text = items[1].text = "lumi";
  items[0].pixels = std::vector<uint8_t>(64, 7);
  const ItemClassifier classifier(model, {.threads = 1});
  EXPECT_EQ(classifier.Embed(items, EmbeddedPart::kText).size(), 2u);
  try {
    classifier.Embed(items, EmbeddedPart::kPicture);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("item 2: the item has no picture"));
  }
  const auto without = std::make_shared<Model>(*model);
  without->config.fusion->shared_width = 0;
  without->tensors = RandomTensors(without->config, 7, 0.5);
  try {
    ItemClassifier(without, {.threads = 1}).Embed(items, EmbeddedPart::kText);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("trained with fusion.shared_width above 0"));
  }
}

// What verify replays: an item with all inputs and one of links alone, as JSON and back.
TEST(ItemClassifierInputs, SamplesAreReplayed) {
  const auto model = MakeItemModel();
  std::vector<Sample> samples(2);
  samples[0].source_ids = {2, 5, 3};
  samples[0].pixels = std::vector<uint8_t>(64, 77);
  samples[0].nodes = {1, 3};
  samples[1].nodes = {2};
  const std::vector<Sample> made = RemakeSamples(model, samples);
  const std::vector<Sample> read = SamplesFromJson(SamplesToJson(made), model->config, "samples");
  EXPECT_EQ(read[0].nodes, samples[0].nodes);
  EXPECT_EQ(read[0].pixels, samples[0].pixels);
  EXPECT_TRUE(read[1].pixels.empty() && read[1].source_ids.empty());
  const auto replayed = ReplaySamples(*Load(model, {}), read, 2);
  for (size_t i = 0; i < read.size(); ++i) {
    ASSERT_EQ(replayed[i].size(), 1u);
    EXPECT_NEAR(replayed[i][0], read[i].token_log_probabilities[0], 1e-6);
  }
  EXPECT_EQ(made[0].shared->text_W.size(), 20u);
  EXPECT_TRUE(made[1].shared->text_W.empty() && made[1].shared->picture_W.empty());
  const auto vectors = ReplaySharedVectors(*Load(model, {}), read, 2);
  EXPECT_EQ(vectors[0].text_W, read[0].shared->text_W);
  EXPECT_EQ(vectors[0].picture_W, read[0].shared->picture_W);
  Json cut = SamplesToJson(made);
  cut[0]["picture_vector"].erase(0);
  EXPECT_THROW(SamplesFromJson(cut, model->config, "samples"), Error);
  Json damaged = SamplesToJson(made);
  damaged[0]["nodes"] = {4};
  EXPECT_THROW(SamplesFromJson(damaged, model->config, "samples"), Error);
}

}  // namespace
}  // namespace attend
