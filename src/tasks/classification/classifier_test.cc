#include "attend/classifier.h"

#include <gmock/gmock.h>

#include <cmath>
#include <thread>

#include "attend/error.h"
#include "attend/vocabulary.h"
#include "engine/plain_transformer.h"
#include "kernels/inference/dispatch.h"
#include "media/picture_codec.h"
#include "media/resize.h"
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

Picture RandomPicture(int64_t width, int64_t height, int64_t channels, uint64_t seed) {
  Picture picture(width, height, channels);
  Random random({seed});
  for (uint8_t& pixel : picture.pixels) pixel = static_cast<uint8_t>(random.Below(256));
  return picture;
}

class PictureClassifierTest : public testing::TestWithParam<std::string> {};

TEST_P(PictureClassifierTest, GivesTheSameBitsWhateverSharesTheCall) {
  const auto model = MakePictureModel();
  std::vector<std::vector<uint8_t>> pictures;
  for (uint64_t i = 0; i < 70; ++i) pictures.push_back(RandomPicture(28, 28, 1, i).pixels);
  for (const WeightType type : {WeightType::kF32, WeightType::kInt8}) {
    const Classifier one(model, {.threads = 1, .type = type, .instruction_set = "reference"});
    const Classifier all(model, {.threads = 3, .type = type, .instruction_set = GetParam()});
    const auto found = all.ClassifyPixels(pictures);
    ASSERT_EQ(found.size(), pictures.size());
    for (size_t i = 0; i < pictures.size(); i += 7) {
      const Classification alone = one.ClassifyPixels({&pictures[i], 1})[0];
      for (size_t c = 0; c < alone.classes.size(); ++c) {
        EXPECT_EQ(found[i].classes[c].label, alone.classes[c].label);
        EXPECT_EQ(found[i].classes[c].probability, alone.classes[c].probability);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PictureClassifierTest, testing::ValuesIn(AvailableInstructionSets()));

// A file is read as its pixels are, brought to the model's size and channels.
TEST(PictureFilesTest, FilesAreWhatTheirPixelsAre) {
  const auto model = MakePictureModel();
  const Classifier classifier(model, {.threads = 1});
  EXPECT_TRUE(classifier.reads_pictures());
  const Picture picture = RandomPicture(40, 31, 3, 5);
  const std::string png = EncodePng(picture);
  const std::vector<uint8_t> pixels =
      Resize(ToChannels(picture, 1), 28, 28, Interpolation::kBilinear).pixels;
  const auto from_file = classifier.ClassifyPictures({&png, 1});
  const auto from_pixels = classifier.ClassifyPixels({&pixels, 1});
  EXPECT_EQ(from_file[0].classes[0].probability, from_pixels[0].classes[0].probability);
}

TEST(PictureFilesTest, OtherInputIsRefused) {
  const Classifier of_pictures(MakePictureModel(), {.threads = 1});
  const Classifier of_text(MakeLabelModel("classification", Pooling::kMean, {"a", "b"}),
                           {.threads = 1});
  const std::string text = "lumi";
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([&] { of_pictures.Classify({&text, 1}); }),
            "the model reads pictures, expected one of text");
  EXPECT_EQ(message([&] { of_text.ClassifyPictures({&text, 1}); }),
            "the model reads text, expected one of pictures");
  const std::string name = "scan.png";
  EXPECT_THAT(message([&] { of_pictures.ClassifyPictures({&text, 1}, {&name, 1}); }),
              testing::HasSubstr("scan.png"));
  const std::vector<uint8_t> few(10);
  EXPECT_THAT(message([&] { of_pictures.ClassifyPixels({&few, 1}); }),
              testing::HasSubstr("has 10 bytes, expected 784"));
}

}  // namespace
}  // namespace attend
