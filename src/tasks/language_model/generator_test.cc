#include "attend/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "attend/error.h"
#include "engine/plain_transformer.h"
#include "kernels/inference/dispatch.h"

namespace attend {
namespace {

using Prompts = std::vector<std::vector<int32_t>>;

// With the golden model's vocabulary.
std::shared_ptr<const Model> TextModel() {
  const auto golden = LoadModel(ATTEND_SOURCE_DIR "/tests/data/golden_v1");
  auto model = std::make_shared<Model>();
  model->config = SmallLanguageModel(golden->config.target_vocab_size);
  model->tensors = RandomTensors(model->config, 7, 0.2);
  model->source_vocabulary = model->target_vocabulary = golden->target_vocabulary;
  return model;
}

std::vector<GenerationOptions> WaysToGenerate() {
  return {{.max_tokens = 9, .temperature = 0},
          {.n = 3, .max_tokens = 9},
          {.n = 2, .max_tokens = 9, .repetition_penalty = 1.4, .temperature = 1.2, .top_k = 8},
          {.max_tokens = 9, .temperature = 1.5, .top_p = 0.8, .min_p = 0.02},
          {.max_tokens = 9, .repetition_penalty = 2, .temperature = 0},
          {.n = 2, .max_tokens = 9, .beam_size = 4}};
}

void ExpectEqual(const std::vector<Generation>& got, const std::vector<Generation>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].ids, want[i].ids);
    EXPECT_EQ(got[i].text, want[i].text);
    EXPECT_EQ(got[i].token_log_probabilities, want[i].token_log_probabilities);
    EXPECT_EQ(got[i].log_probability, want[i].log_probability);
    EXPECT_EQ(got[i].ending, want[i].ending);
  }
}

class GeneratorTest : public testing::TestWithParam<std::string> {};

TEST_P(GeneratorTest, GreedyTakesTheLikeliestTokenOfThePlainFormulas) {
  const auto model = MakeModel(SmallLanguageModel());
  const Generator generator(Load(model, {.instruction_set = GetParam()}), 2);
  Prompts prompts = RandomSentences(6, 9, 1);
  prompts.emplace_back();
  const auto found = generator.GenerateIds(prompts, {.max_tokens = 8, .temperature = 0});
  for (size_t i = 0; i < prompts.size(); ++i) {
    std::vector<int32_t> read = {2};
    read.insert(read.end(), prompts[i].begin(), prompts[i].end());
    for (size_t t = 0; t < found[i][0].token_log_probabilities.size(); ++t) {
      std::vector<double> logits = Plain(*model).Logits({}, read).back();
      double sum = 0;
      for (const double logit : logits) sum += std::exp(logit);
      logits[0] = logits[1] = logits[2] = -1e9;  // pad, unk, bos
      const auto best = static_cast<int32_t>(std::ranges::max_element(logits) - logits.begin());
      EXPECT_EQ(t < found[i][0].ids.size() ? found[i][0].ids[t] : 3, best);
      EXPECT_NEAR(found[i][0].token_log_probabilities[t], logits[best] - std::log(sum), 1e-5);
      read.push_back(best);
    }
  }
}

TEST_P(GeneratorTest, APromptGivesTheSameTextAloneAndInAnyBatch) {
  const auto model = TextModel();
  const Prompts prompts = RandomSentences(24, 20, 2);
  for (const WeightType type : {WeightType::kF32, WeightType::kInt8}) {
    const auto reference = Load(model, {.type = type, .instruction_set = "reference"});
    const auto loaded = Load(model, {.type = type, .instruction_set = GetParam()});
    const Generator alone(reference, 1), one(loaded, 1), three(loaded, 3);
    for (GenerationOptions options : WaysToGenerate()) {
      std::vector<std::vector<Generation>> want;
      for (const auto& prompt : prompts) want.push_back(alone.GenerateIds({{prompt}}, options)[0]);
      for (const Generator* generator : {&one, &three}) {
        for (const int64_t together : {1, 5, 1000}) {
          options.batch_sentences = together;
          const auto got = generator->GenerateIds(prompts, options);
          for (size_t i = 0; i < prompts.size(); ++i) ExpectEqual(got[i], want[i]);
        }
      }
    }
  }
}

TEST_P(GeneratorTest, LogProbabilitiesAreThoseThatScoreGives) {
  const Generator generator(Load(MakeModel(SmallLanguageModel()), {.instruction_set = GetParam()}),
                            2);
  const Prompts prompts = RandomSentences(9, 9, 3);
  for (const GenerationOptions& options : WaysToGenerate()) {
    const auto found = generator.GenerateIds(prompts, options);
    for (size_t i = 0; i < prompts.size(); ++i) {
      for (const Generation& generation : found[i]) {
        std::vector<int32_t> text = prompts[i];
        text.insert(text.end(), generation.ids.begin(), generation.ids.end());
        const auto all = generator.ScoreIds({{text}})[0].token_log_probabilities;
        const size_t ended = generation.ending == Ending::kText ? 1 : 0;
        ASSERT_EQ(generation.token_log_probabilities.size(), generation.ids.size() + ended);
        double sum = 0;
        for (size_t t = 0; t < generation.token_log_probabilities.size(); ++t) {
          EXPECT_EQ(generation.token_log_probabilities[t], all[prompts[i].size() + t]);
          sum += generation.token_log_probabilities[t];
        }
        EXPECT_NEAR(generation.log_probability, sum, 1e-9);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GeneratorTest, testing::ValuesIn(AvailableInstructionSets()),
                         [](const auto& info) { return info.param; });

TEST(GeneratorTest, FirstTokensHaveTheModelsFrequencies) {
  const auto model = MakeModel(SmallLanguageModel());
  const Generator generator(Load(model), 2);
  const Prompts prompts = {{5, 6, 7}};
  std::map<int32_t, double> counts;
  double draws = 0;
  for (int64_t seed = 1; seed <= 1600; ++seed) {
    const GenerationOptions options{.n = 64, .max_tokens = 1, .seed = seed};
    const auto found = generator.GenerateIds(prompts, options);
    for (const Generation& each : found[0]) {
      ++counts[each.ids.empty() ? 3 : each.ids[0]];
      ++draws;
    }
  }
  EXPECT_GE(draws, 100000);
  const std::vector<double> logits = Plain(*model).Logits({}, {2, 5, 6, 7}).back();
  double sum = 0, statistic = 0;
  for (size_t id = 3; id < logits.size(); ++id) sum += std::exp(logits[id]);
  for (size_t id = 3; id < logits.size(); ++id) {
    const double expected = draws * std::exp(logits[id]) / sum;
    const double difference = counts[static_cast<int32_t>(id)] - expected;
    statistic += difference * difference / expected;
  }
  const double freedom = static_cast<double>(logits.size()) - 4;
  EXPECT_LT(statistic, freedom + 4 * std::sqrt(2 * freedom));
}

TEST(GeneratorTest, SeedsAndNumbersGiveDifferentTexts) {
  const Generator generator(Load(MakeModel(SmallLanguageModel())), 1);
  const Prompts prompts = {{5, 6}};
  const auto one = generator.GenerateIds(prompts, {.n = 2, .max_tokens = 20})[0];
  const auto other = generator.GenerateIds(prompts, {.n = 2, .max_tokens = 20, .seed = 2})[0];
  EXPECT_NE(one[0].ids, one[1].ids);
  EXPECT_NE(one[0].ids, other[0].ids);
  EXPECT_EQ(one[0].ids, generator.GenerateIds(prompts, {.n = 1, .max_tokens = 20})[0][0].ids);
}

TEST(GeneratorTest, AWideBeamIsAtLeastAsLikelyAsGreedySteps) {
  const Generator generator(Load(MakeModel(SmallLanguageModel())), 1);
  for (const auto& prompt : RandomSentences(10, 9, 4)) {
    const GenerationOptions greedy{.max_tokens = 6, .min_tokens = 6, .temperature = 0};
    GenerationOptions beam = greedy;
    beam.beam_size = 32;
    EXPECT_GE(generator.GenerateIds({{prompt}}, beam)[0][0].log_probability,
              generator.GenerateIds({{prompt}}, greedy)[0][0].log_probability - 1e-9);
  }
}

TEST(GeneratorTest, PiecesTogetherAreTheTextAndStopTextsEndIt) {
  const Generator generator(Load(TextModel()), 2);
  const std::vector<std::string> prompts = {"lumi", "", "tavo keri"};
  GenerationOptions options{.n = 2, .max_tokens = 30, .min_tokens = 30};
  const auto whole = generator.Generate(prompts, options);
  const std::string& text = whole[0][1].text;
  ASSERT_GT(text.size(), 12u);
  options.stop = {"no such text", text.substr(9, 3)};
  std::map<std::pair<int64_t, int64_t>, std::string> pieces;
  const auto found = generator.Generate(prompts, options, [&](const GeneratedPiece& piece) {
    EXPECT_FALSE(piece.text.empty());
    pieces[{piece.prompt, piece.output}] += piece.text;
  });
  EXPECT_EQ(found[0][1].text, text.substr(0, text.find(options.stop[1])));
  EXPECT_EQ(found[0][1].ending, Ending::kStop);
  EXPECT_LT(found[0][1].ids.size(), 30u);
  for (size_t i = 0; i < prompts.size(); ++i) {
    for (size_t output = 0; output < 2; ++output) {
      EXPECT_EQ((pieces[{i, output}]), found[i][output].text);
      EXPECT_TRUE(whole[i][output].text.starts_with(found[i][output].text));
    }
  }
}

TEST(GeneratorTest, LearnedPositionsEndOutputs) {
  ModelConfig config = SmallLanguageModel();
  config.decoder->positions = PositionKind::kLearned;
  config.decoder->max_positions = 12;
  const Generator generator(Load(MakeModel(config)), 1);
  EXPECT_EQ(generator.max_prompt_tokens(), 11);
  for (const int64_t beam_size : {1, 3}) {
    const GenerationOptions options{.min_tokens = 100, .beam_size = beam_size};
    for (const int64_t length : {0, 5, 11}) {
      const Prompts prompts = {std::vector<int32_t>(length, 5)};
      const Generation found = generator.GenerateIds(prompts, options)[0][0];
      EXPECT_EQ(std::ssize(found.ids), 12 - length);
      EXPECT_EQ(found.ending, Ending::kLength);
    }
    EXPECT_THROW(generator.GenerateIds({{std::vector<int32_t>(12, 5)}}, options), Error);
  }
}

TEST(GeneratorTest, OptionsThatMakeNoSenseAreErrors) {
  const Generator generator(Load(MakeModel(SmallLanguageModel())), 1);
  for (const GenerationOptions& options :
       std::vector<GenerationOptions>{{.n = 0},
                                      {.n = 65},
                                      {.n = 2, .temperature = 0},
                                      {.max_tokens = 0},
                                      {.max_tokens = 4, .min_tokens = 5},
                                      {.stop = {""}},
                                      {.stop = {"a"}},  // without vocabulary
                                      {.temperature = -1},
                                      {.temperature = NAN},
                                      {.temperature = 1e-38},
                                      {.temperature = 0.009},
                                      {.top_k = -1},
                                      {.top_p = 1.1},
                                      {.min_p = -0.1},
                                      {.repetition_penalty = 0},
                                      {.n = 3, .beam_size = 2},
                                      {.repetition_penalty = 2, .beam_size = 2}}) {
    EXPECT_THROW(generator.GenerateIds({{{5}}}, options), Error);
  }
  EXPECT_THROW(generator.GenerateIds({{{40}}}), Error);
  EXPECT_THROW(generator.GenerateIds({{{-1}}}), Error);
  EXPECT_THROW(generator.Encode("text"), Error);
}

TEST(GeneratorTest, AModelOfAnotherTaskNamesItsCommand) {
  try {
    const Generator generator(Load(MakeModel(SmallConfig())), 1);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_STREQ(error.what(),
                 "the model's task is translation, expected language_model; run it with `attend "
                 "translate`");
  }
}

TEST(GeneratorTest, ACallThatIsStoppedEnds) {
  const Generator generator(Load(MakeModel(SmallLanguageModel())), 2);
  std::atomic<bool> stop = false;
  const GenerationOptions options{.max_tokens = 1000000, .min_tokens = 1000000, .stop_call = &stop};
  std::jthread stopping([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop = true;
  });
  EXPECT_THROW(generator.GenerateIds(RandomSentences(5, 9, 6), options), Error);
}

// Both calls run on one thread, step by step together.
TEST(GeneratorTest, ASinkThatThrowsFailsItsOwnCallAlone) {
  const Generator generator(TextModel(), {.threads = 1});
  const std::vector<std::string> prompts = {"ala", "melo"};
  const GenerationOptions options{.max_tokens = 200, .min_tokens = 200};
  const auto wanted = generator.Generate(prompts, options);
  std::promise<void> begun;
  std::once_flag once;
  std::vector<std::vector<Generation>> found;
  std::jthread other([&] {
    found = generator.Generate(prompts, options, [&](const GeneratedPiece&) {
      std::call_once(once, [&] {
        begun.set_value();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      });
    });
  });
  begun.get_future().wait();
  try {
    generator.Generate(prompts, options,
                       [](const GeneratedPiece&) { throw std::runtime_error("a full disk"); });
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "a full disk");
  }
  other.join();
  ASSERT_EQ(found.size(), 2U);
  for (size_t i = 0; i < found.size(); ++i) ExpectEqual(found[i], wanted[i]);
}

}  // namespace
}  // namespace attend
