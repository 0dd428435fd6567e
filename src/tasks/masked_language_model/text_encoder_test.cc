#include "attend/text_encoder.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <utility>

#include "attend/error.h"
#include "attend/vocabulary.h"
#include "base/log.h"
#include "engine/plain_transformer.h"
#include "kernels/inference/dispatch.h"
#include "text/mask_token.h"
#include "text/tokenizer_fixture.h"
#include "text/vocabulary_trainer.h"

namespace attend {
namespace {

using testing::HasSubstr;

std::string VocabularyWithMask() {
  VocabularyOptions options;
  options.type = VocabularyType::kBpe;
  options.size = 45;
  options.mask = true;
  const std::vector<std::string> lines = {"the old houses stand beside the river",
                                          "an older house stands there", "rivers and houses"};
  size_t next = 0;
  const auto take = [&](std::string* line) {
    if (next == lines.size()) return false;
    *line = lines[next++];
    return true;
  };
  return TrainVocabulary(take, options, 1, NoLog());
}

// BERT's encoder with random weights.
std::shared_ptr<Model> MaskedModel(const std::string& vocabulary) {
  auto model = std::make_shared<Model>();
  const auto known = Vocabulary::FromBytes(vocabulary, "test");
  model->config = SmallConfig(known->size());
  model->config.task = "masked_language_model";
  model->config.special_ids = known->special_ids();
  model->config.languages.clear();
  model->config.decoder.reset();
  model->config.head_bias = model->config.head_transform = true;
  StackConfig& stack = *model->config.encoder;
  stack.activation = Activation::kGelu;
  stack.embedding_norm = stack.attention_bias = true;
  stack.positions = PositionKind::kLearned;
  stack.max_positions = 24;
  model->tensors = RandomTensors(model->config, 7, 0.5);
  model->source_vocabulary = model->target_vocabulary = vocabulary;
  return model;
}

const std::vector<std::string> kTexts = {"the [MASK] stand", "[MASK]",
                                         "an [MASK] house [MASK] there",
                                         "the old houses stand beside the [MASK]"};

class TextEncoderTest : public testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<Model> model_ = MaskedModel(VocabularyWithMask());
  std::shared_ptr<const Vocabulary> vocabulary_ =
      Vocabulary::FromBytes(model_->source_vocabulary, "test");

  // bos, the words before and after the mask by themselves, eos.
  std::vector<int32_t> Ids(const std::vector<std::string>& parts) const {
    std::vector<int32_t> ids = {2};
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i > 0) ids.push_back(MaskId(*vocabulary_));
      const std::vector<int32_t> more = vocabulary_->Encode(parts[i]);
      ids.insert(ids.end(), more.begin(), more.end());
    }
    ids.push_back(3);
    return ids;
  }
};

TEST_P(TextEncoderTest, FillsAsThePlainFormulasDo) {
  const TextEncoder encoder(model_, {.threads = 2, .instruction_set = GetParam()});
  const auto found = encoder.Fill(kTexts, 1000);
  const std::vector<int32_t> ids = Ids({"an", "house", "there"});
  const Matrix logits = Plain(*model_).EncoderLogits(ids);
  size_t mask = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != MaskId(*vocabulary_)) continue;
    double sum = 0;
    for (const double logit : logits[i]) sum += std::exp(logit);
    std::vector<double> want;
    for (int64_t id = 4; id < vocabulary_->size(); ++id)
      if (id != MaskId(*vocabulary_)) want.push_back(std::exp(logits[i][id]) / sum);
    std::ranges::sort(want, std::greater<>());
    const std::vector<FillingToken>& tokens = found[2].masks.at(mask++);
    ASSERT_EQ(tokens.size(), want.size());
    for (size_t k = 0; k < want.size(); ++k) EXPECT_NEAR(tokens[k].probability, want[k], 1e-5);
  }
  EXPECT_EQ(mask, 2u);
  EXPECT_THAT(found[2].text, testing::Not(HasSubstr("[MASK]")));
  EXPECT_THAT(found[2].text, testing::StartsWith("an"));
}

TEST_P(TextEncoderTest, EmbedsAsThePlainFormulasDo) {
  const TextEncoder encoder(model_, {.threads = 2, .instruction_set = GetParam()});
  const std::vector<std::string> texts = {"the old houses", "river", ""};
  for (const TextPooling pooling : {TextPooling::kMean, TextPooling::kFirst}) {
    const auto plain = encoder.Embed(texts, {.pooling = pooling});
    const auto normal = encoder.Embed(texts, {.pooling = pooling, .normalize = true});
    for (size_t i = 0; i < texts.size(); ++i) {
      const Matrix rows = Plain(*model_).Encode(Ids({texts[i]}));
      double squares = 0;
      for (int64_t d = 0; d < encoder.width(); ++d) {
        double want = rows[0][d];
        for (size_t t = 1; t < rows.size() && pooling == TextPooling::kMean; ++t)
          want += rows[t][d];
        if (pooling == TextPooling::kMean) want /= static_cast<double>(rows.size());
        EXPECT_NEAR(plain[i].values_D[d], want, 1e-5);
        squares += normal[i].values_D[d] * normal[i].values_D[d];
      }
      EXPECT_NEAR(squares, 1, 1e-5);
      EXPECT_GT(normal[i].values_D[0] * plain[i].values_D[0], 0);
    }
  }
}

TEST_P(TextEncoderTest, GivesTheSameBitsWhateverSharesTheCall) {
  for (const WeightType type : {WeightType::kF32, WeightType::kInt8}) {
    const TextEncoder one(model_, {.threads = 1, .type = type, .instruction_set = "reference"});
    const TextEncoder encoder(model_, {.threads = 3, .type = type, .instruction_set = GetParam()});
    const auto filled = encoder.Fill(kTexts);
    const auto vectors = encoder.Embed(kTexts);
    for (size_t i = 0; i < kTexts.size(); ++i) {
      const FilledText alone = one.Fill({&kTexts[i], 1})[0];
      EXPECT_EQ(filled[i].text, alone.text);
      for (size_t k = 0; k < 5; ++k)
        EXPECT_EQ(filled[i].masks[0][k].probability, alone.masks[0][k].probability);
      EXPECT_EQ(vectors[i].values_D, one.Embed({&kTexts[i], 1})[0].values_D);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TextEncoderTest, testing::ValuesIn(AvailableInstructionSets()));

std::string ErrorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// The token before [MASK] stays, where it is a word that the vocabulary does not know.
TEST(TextEncoder, ReadsWordsAsTheyStand) {
  VocabularyOptions options;
  options.type = VocabularyType::kWord;
  options.mask = true;
  bool given = false;
  const auto take = [&](std::string* line) {
    *line = "red apple blue sky";
    return !std::exchange(given, true);
  };
  const auto model = MaskedModel(TrainVocabulary(take, options, 1, NoLog()));
  const auto vocabulary = Vocabulary::FromBytes(model->source_vocabulary, "test");
  const std::vector<std::string> texts = {"xyzzy [MASK] sky"};
  const auto found = TextEncoder(model, {.threads = 1}).Fill(texts, 1)[0].masks[0][0];
  const std::vector<int32_t> read = {2, 1, MaskId(*vocabulary), vocabulary->Id("\u2581sky"), 3};
  const std::vector<double> logits = Plain(*model).EncoderLogits(read)[2];
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  double best = 0;
  for (const char* word : {"red", "apple", "blue", "sky"})
    best = std::max(best, std::exp(logits[vocabulary->Id("\u2581" + std::string(word))]) / sum);
  EXPECT_NEAR(found.probability, best, 1e-5);
}

TEST(TextEncoder, RefusesWhatItCannotDo) {
  const auto model = MaskedModel(VocabularyWithMask());
  const TextEncoder encoder(model, {.threads = 1});
  const std::vector<std::string> none = {"no such token"};
  EXPECT_THAT(ErrorOf([&] { encoder.Fill(none); }), HasSubstr("'no such token'"));
  const auto translator = LoadModel(ATTEND_SOURCE_DIR "/tests/data/golden_v1");
  EXPECT_THAT(ErrorOf([&] { TextEncoder(translator, {}); }), HasSubstr("an encoder alone"));
  auto labels = std::make_shared<Model>(*MaskedModel(VocabularyWithMask()));
  labels->config.task = "classification";
  labels->config.head_bias = labels->config.head_transform = false;
  labels->config.head = HeadKind::kLabels;
  labels->config.labels = {"a"};
  labels->tensors = RandomTensors(labels->config, 7, 0.5);
  const TextEncoder embeds(labels, {.threads = 1});
  EXPECT_EQ(std::ssize(embeds.Embed(none)[0].values_D), 16);
  EXPECT_THAT(ErrorOf([&] { embeds.Fill(kTexts); }), HasSubstr("attend classify"));
}

TEST(TextEncoder, RefusesToFillWithSpecialTokensAlone) {
  Json file = WordPieceFile();
  Json special = Json::object();
  for (const auto& [token, id] : file["model"]["vocab"].items())
    if (id < 5) special[token] = id;
  file["model"]["vocab"] = std::move(special);
  const TextEncoder encoder(MaskedModel(file.dump()), {.threads = 1});
  EXPECT_THAT(ErrorOf([&] { encoder.Fill(std::vector<std::string>{"[MASK]"}); }),
              HasSubstr("the vocabulary has no token that shows"));
}

TEST(TextEncoder, SaysWhenATextIsCut) {
  const TextEncoder encoder(MaskedModel(VocabularyWithMask()), {.threads = 1});
  std::string text = "[MASK]";
  for (int i = 0; i < 30; ++i) text += " river";
  const std::vector<std::string> texts = {"[MASK] river", text};
  const auto found = encoder.Fill(texts);
  EXPECT_FALSE(found[0].cut);
  EXPECT_TRUE(found[1].cut);
  EXPECT_TRUE(encoder.Embed(texts)[1].cut);
  const std::vector<std::string> late = {text.substr(7) + " [MASK]"};
  EXPECT_THAT(ErrorOf([&] { encoder.Fill(late); }), HasSubstr("stands after the 22 tokens"));
}

TEST(TextEncoder, ACallThatIsStoppedEnds) {
  const TextEncoder encoder(MaskedModel(VocabularyWithMask()), {.threads = 2});
  const std::atomic<bool> stop = true;
  EXPECT_THAT(ErrorOf([&] { encoder.Fill(kTexts, 5, &stop); }), HasSubstr("stopped"));
  EXPECT_THAT(ErrorOf([&] { encoder.Embed(kTexts, {}, &stop); }), HasSubstr("stopped"));
}

}  // namespace
}  // namespace attend
