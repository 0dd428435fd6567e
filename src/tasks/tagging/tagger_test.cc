#include "attend/tagger.h"

#include <gmock/gmock.h>

#include <cmath>

#include "attend/error.h"
#include "attend/vocabulary.h"
#include "engine/plain_transformer.h"
#include "kernels/inference/dispatch.h"
#include "tasks/label_model_fixture.h"
#include "tasks/tagging/label_transitions.h"
#include "text/entity_labels.h"
#include "text/word_ids.h"

namespace attend {
namespace {

std::shared_ptr<Model> TaggingModel() {
  return MakeLabelModel("tagging", Pooling::kTokens, {"B-LOC", "B-PER", "I-LOC", "I-PER", "O"});
}

// Words of both vocabularies, some with characters of several bytes.
std::vector<std::string> Texts() {
  std::vector<std::string> texts = {"", "lumi tavo", "\xC3\xA9t\xC3\xA9, lumi!", " x\xFFy "};
  for (int i = 1; i < 12; ++i) {
    std::string text;
    for (int word = 0; word < 2 * i; ++word) text += (word % 3 == i % 3 ? " lumi" : " tavokesi");
    texts.push_back(text + ".");
  }
  return texts;
}

void ExpectEqual(const std::vector<LabelledText>& got, const std::vector<LabelledText>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].text, want[i].text);
    EXPECT_EQ(got[i].label, want[i].label);
    EXPECT_EQ(got[i].begin, want[i].begin);
    EXPECT_EQ(got[i].end, want[i].end);
    EXPECT_EQ(got[i].probability, want[i].probability);
  }
}

class TaggerTest : public testing::TestWithParam<std::string> {};

TEST_P(TaggerTest, FollowsThePlainFormulas) {
  const auto model = TaggingModel();
  const Tagger tagger(model, {.threads = 2, .instruction_set = GetParam()});
  const std::vector<std::string> words = {"lumi", "tavo", "kesi"};
  const auto vocabulary = Vocabulary::FromBytes(model->source_vocabulary, "test");
  const WordPart part = EncodeWords(*vocabulary, words, 20)[0];
  const Matrix logits = Plain(*model).EncoderLogits(part.ids);
  std::vector<float> scores_TL;
  for (const int32_t place : part.first_tokens)
    scores_TL.insert(scores_TL.end(), logits[place].begin(), logits[place].end());
  const LabelTransitions transitions = TransitionsOf(model->config, model->tensors);
  const LabelPath path = BestLabels(scores_TL, transitions);
  const LabelPosterior posterior(scores_TL, transitions);
  const TaggedText tagged = tagger.TagWords({{words}})[0];
  for (size_t word = 0; word < words.size(); ++word) {
    EXPECT_EQ(tagged.words[word].label, model->config.labels[path.labels[word]]);
    EXPECT_NEAR(tagged.words[word].probability,
                posterior.Probability(static_cast<int64_t>(word), {&path.labels[word], 1}), 1e-5);
  }
}

TEST_P(TaggerTest, GivesTheSameBitsWhateverSharesTheCall) {
  const auto model = TaggingModel();
  for (const WeightType type : {WeightType::kF32, WeightType::kInt8}) {
    const Tagger one(model, {.threads = 1, .type = type, .instruction_set = "reference"});
    const Tagger tagger(model, {.threads = 3, .type = type, .instruction_set = GetParam()});
    const std::vector<std::string> texts = Texts();
    const auto all = tagger.Tag(texts);
    for (size_t i = 0; i < texts.size(); ++i) {
      const TaggedText alone = one.Tag({&texts[i], 1})[0];
      ExpectEqual(all[i].words, alone.words);
      ExpectEqual(all[i].entities, alone.entities);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TaggerTest, testing::ValuesIn(AvailableInstructionSets()));

TEST(Tagger, NeverPredictsWhatTheSchemeForbids) {
  const Tagger tagger(TaggingModel(), {.threads = 2});
  int64_t entities = 0;
  for (const TaggedText& tagged : tagger.Tag(Texts())) {
    std::string before;
    for (const LabelledText& word : tagged.words) {
      EXPECT_TRUE(MayFollow(before, word.label, LabelScheme::kIob2)) << before << word.label;
      before = word.label;
      EXPECT_GT(word.probability, 0);
      EXPECT_LE(word.probability, 1);
    }
    entities += std::ssize(tagged.entities);
  }
  EXPECT_GT(entities, 10);
}

// A directory may say anything of its head.
TEST(Tagger, RefusesAHeadThatIsNotForWords) {
  const auto model = MakeLabelModel("tagging", Pooling::kTokens, {"O", "B-X", "I-X"});
  model->config.pooling = Pooling::kMean;
  EXPECT_THROW(Tagger(model, {.threads = 1}), Error);
}

TEST(Tagger, SaysWhereWordsStandInCharacters) {
  const Tagger tagger(TaggingModel(), {.threads = 1});
  const std::vector<std::string> texts = {"\xC3\xA9t\xC3\xA9, lumi!"};
  const TaggedText tagged = tagger.Tag(texts)[0];
  ASSERT_EQ(tagged.words.size(), 4U);
  EXPECT_EQ(tagged.words[0].end, 3);
  EXPECT_EQ(tagged.words[2].begin, 5);
  EXPECT_EQ(tagged.words[2].text, "lumi");
  const std::vector<TaggedText> all = tagger.Tag(Texts());
  for (const LabelledText& entity : all.back().entities)
    EXPECT_EQ(entity.text, Texts().back().substr(entity.begin, entity.end - entity.begin));
}

TEST(Tagger, IsForModelsOfTagging) {
  const auto other = MakeLabelModel("classification", Pooling::kMean, {"a", "b"});
  try {
    const Tagger tagger(other, {.threads = 1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("run it with `attend classify`"));
  }
}

TEST(Tagger, ACallThatIsStoppedEnds) {
  const Tagger tagger(TaggingModel(), {.threads = 1});
  const std::atomic<bool> stop = true;
  EXPECT_THROW(tagger.Tag(Texts(), &stop), Error);
  const std::vector<std::vector<std::string>> words = {{"lumi"}};
  EXPECT_THROW(tagger.TagWords(words, &stop), Error);
}

}  // namespace
}  // namespace attend
