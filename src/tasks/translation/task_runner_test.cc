#include "tasks/translation/task_runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "attend/error.h"
#include "engine/plain_transformer.h"
#include "kernels/inference/dispatch.h"

namespace attend {
namespace {

using Sentences = std::vector<std::vector<int32_t>>;

// Ids stand around source and target.
ModelConfig Framed() {
  ModelConfig config = SmallConfig();
  config.source_begin = {10, 11};
  config.source_end = {12};
  config.target_begin = {13};
  return config;
}

class TaskRunnerTest : public testing::TestWithParam<std::string> {};

// `want` rows may be shorter: what lies in the future has no weight.
void ExpectWeights(const AttentionWeights& got, const std::string& stack, const std::string& name,
                   const Plain& plain) {
  ASSERT_EQ(got.size(), 2u);
  for (size_t layer = 0; layer < got.size(); ++layer) {
    const auto& want = plain.attention.at(stack + ".layers." + std::to_string(layer) + "." + name);
    ASSERT_EQ(got[layer].size(), want.size());
    for (size_t h = 0; h < want.size(); ++h) {
      ASSERT_EQ(got[layer][h].size(), want[h].size());
      for (size_t t = 0; t < want[h].size(); ++t) {
        ASSERT_EQ(got[layer][h][t].size(), want[h][t].size());
        double sum = 0;
        for (size_t s = 0; s < want[h][t].size(); ++s) {
          EXPECT_NEAR(got[layer][h][t][s], want[h][t][s], 1e-5);
          sum += got[layer][h][t][s];
        }
        EXPECT_NEAR(sum, 1, 1e-5);
      }
    }
  }
}

TEST_P(TaskRunnerTest, AttentionWeightsEqualThePlainFormulas) {
  const Sentences sources = RandomSentences(4, 17, 1), targets = RandomSentences(4, 9, 2);
  for (const ModelConfig& config : {SmallConfig(), Framed()}) {
    const auto model = MakeModel(config);
    ScoreOptions options;
    options.attention = true;
    const auto scores = Scorer(model, 2, GetParam()).ScoreIds(sources, targets, options);
    for (size_t i = 0; i < sources.size(); ++i) {
      Plain plain(*model);
      plain.LogProbabilities(sources[i], targets[i]);
      ExpectWeights(scores[i].encoder_self, "encoder", "self_attention", plain);
      ExpectWeights(scores[i].decoder_self, "decoder", "self_attention", plain);
      ExpectWeights(scores[i].cross, "decoder", "cross_attention", plain);
    }
  }
}

// `model` may have a frame, of which no word is aligned.
void ExpectAlignments(const std::shared_ptr<const Model>& model, const std::string& set) {
  const Sentences sources = RandomSentences(4, 9, 3), targets = RandomSentences(4, 9, 4);
  const size_t before_source = model->config.source_begin.size(),
               before_target = model->config.target_begin.size();
  const int64_t trained = model->config.alignment_layer;
  ScoreOptions options;
  options.alignments = true;
  for (options.alignment_layer = 0; options.alignment_layer <= 2; ++options.alignment_layer) {
    const auto scores = Scorer(model, 1, set).ScoreIds(sources, targets, options);
    for (size_t i = 0; i < sources.size(); ++i) {
      Plain plain(*model);
      plain.LogProbabilities(sources[i], targets[i]);
      const int64_t layer = options.alignment_layer > 0 ? options.alignment_layer
                            : trained > 0               ? trained
                                                        : 2;
      const auto& heads =
          plain.attention.at(fmt::format("decoder.layers.{}.cross_attention", layer - 1));
      ASSERT_EQ(scores[i].alignment.size(), targets[i].size());
      for (size_t t = 0; t < targets[i].size(); ++t) {
        const auto weight = [&](size_t s) {
          // The row that writes the token; of a layer that was taught, the one that reads it.
          const size_t row = before_target + t + (layer == trained ? 1 : 0),
                       column = before_source + s;
          return heads[0][row][column] + heads[1][row][column];
        };
        size_t best = 0;
        for (size_t s = 1; s < sources[i].size(); ++s) {
          if (weight(s) > weight(best)) best = s;
        }
        EXPECT_EQ(scores[i].alignment[t].target, static_cast<int64_t>(t));
        EXPECT_EQ(scores[i].alignment[t].source, static_cast<int64_t>(best));
      }
      EXPECT_TRUE(scores[i].cross.empty());
    }
  }
}

TEST_P(TaskRunnerTest, AlignmentsFollowThePlainWeights) {
  ExpectAlignments(MakeModel(SmallConfig()), GetParam());
  ExpectAlignments(MakeModel(Framed()), GetParam());
  for (const int64_t layer : {1, 2}) {
    ModelConfig taught = Framed();
    taught.alignment_layer = layer;
    ExpectAlignments(MakeModel(taught), GetParam());
  }
}

TEST_P(TaskRunnerTest, AWideBeamOnARealModelFindsWhatExhaustiveSearchFinds) {
  constexpr int64_t kLongest = 5;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const auto model = MakeModel(SmallConfig(6), seed);  // 4, 5 and eos may stand in the output
    const std::vector<int32_t> source = {4, 5, 5};
    std::vector<std::pair<double, std::vector<int32_t>>> all;
    const std::function<void(std::vector<int32_t>)> visit = [&](std::vector<int32_t> ids) {
      const auto logs = Plain(*model).LogProbabilities(source, ids);
      const double length = static_cast<double>(ids.size()) + 1;
      all.emplace_back(
          std::accumulate(logs.begin(), logs.end(), 0.0) / std::pow((5 + length) / 6, 0.6), ids);
      if (std::ssize(ids) + 1 == kLongest) return;
      for (const int32_t id : {4, 5}) {
        ids.push_back(id);
        visit(ids);
        ids.pop_back();
      }
    };
    visit({});
    std::sort(all.begin(), all.end(), std::greater<>());
    TranslationOptions options;
    options.beam_size = 64;
    options.n_best = 5;
    options.max_length = kLongest;
    const auto found = Translator(model, {.threads = 1, .instruction_set = GetParam()})
                           .TranslateIds(Sentences{source}, options)[0];
    for (size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(found.hypotheses[i].ids, all[i].second) << seed << " " << i;
      EXPECT_NEAR(found.hypotheses[i].score, all[i].first, 5e-5);
      EXPECT_TRUE(found.hypotheses[i].finished);
    }
  }
}

TEST_P(TaskRunnerTest, TheSameTextGivesTheSameTextAndScoreBits) {
  const auto model = LoadModel(ATTEND_SOURCE_DIR "/tests/data/golden_v1");
  const std::vector<std::string> words = {"lumi", "tavo", "keri", "paku", "neri", "dosa", "ilvo"};
  Random random({11});
  std::vector<std::string> texts(64);
  for (std::string& text : texts) {
    for (uint64_t n = 1 + random.Below(9); n > 0; --n) text += words[random.Below(7)] + " ";
  }
  TranslationOptions options;
  options.batch_tokens = 1;
  options.max_length = 12;
  const auto want =
      Translator(model, {.threads = 1, .instruction_set = GetParam()}).Translate(texts, options);
  std::vector<size_t> order(texts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (const int threads : {1, 2}) {
    const Translator translator(model, {.threads = threads, .instruction_set = GetParam()});
    for (const size_t batch : {size_t{1}, size_t{3}, size_t{64}}) {
      random.Shuffle(&order);
      options.batch_tokens = 100000;
      for (size_t first = 0; first < texts.size(); first += batch) {
        std::vector<std::string> given;
        for (size_t i = first; i < std::min(first + batch, texts.size()); ++i) {
          given.push_back(texts[order[i]]);
        }
        const auto got = translator.Translate(given, options);
        for (size_t i = 0; i < given.size(); ++i) {
          const Hypothesis& one = got[i].hypotheses[0];
          const Hypothesis& other = want[order[first + i]].hypotheses[0];
          EXPECT_EQ(one.text, other.text);
          EXPECT_EQ(one.score, other.score);
        }
      }
    }
  }
}

TEST_P(TaskRunnerTest, AWeightThatIsNotANumberIsAnErrorOnEveryThread) {
  const Sentences sentences = RandomSentences(40, 9, 6);
  const auto bad = std::make_shared<Model>();
  bad->config = SmallConfig();
  bad->tensors = RandomTensors(bad->config, 7, 0.2);
  const TensorView& weight = bad->tensors.Get("decoder.layers.1.feed_forward.outer.weight");
  const_cast<float*>(weight.f32())[3] = std::numeric_limits<float>::quiet_NaN();
  const Translator translator(bad, {.threads = 3, .instruction_set = GetParam()});
  const Scorer scorer(bad, 3, GetParam());
  TranslationOptions options;
  options.batch_tokens = 10;
  for (int attempt = 0; attempt < 3; ++attempt) {  // the threads live on after an error
    EXPECT_THROW(translator.TranslateIds(sentences, options), Error);
    EXPECT_THROW(scorer.ScoreIds(sentences, sentences), Error);
  }
}

INSTANTIATE_TEST_SUITE_P(All, TaskRunnerTest, testing::ValuesIn(AvailableInstructionSets()),
                         [](const auto& info) { return info.param; });

TEST(TaskRunnerTest, LearnedPositionsBoundBothSides) {
  ModelConfig config = SmallConfig();
  for (StackConfig* stack : {&*config.encoder, &*config.decoder}) {
    stack->positions = PositionKind::kLearned;
    stack->max_positions = 20;
  }
  config.decoder->position_offset = 3;
  const auto model = MakeModel(config);
  const TaskRunner runner(Load(model));
  EXPECT_EQ(runner.max_source_tokens(), 19);
  EXPECT_EQ(runner.max_target_tokens(), 16);
  const auto score = [&](int64_t source, int64_t target, bool skip = false) {
    return Scorer(model, 1).ScoreIds(Sentences{{5}, std::vector<int32_t>(source, 5)},
                                     Sentences{{6}, std::vector<int32_t>(target, 6)},
                                     {.skip_too_long = skip, .first_line = 7});
  };
  EXPECT_NO_THROW(score(19, 16));
  const std::vector<PairScore> skipped = score(20, 16, true);
  EXPECT_EQ(skipped[0].log_probability, score(19, 16)[0].log_probability);
  EXPECT_EQ(skipped[1].token_log_probabilities.size(), 0);
  EXPECT_EQ(score(19, 16, true)[1].token_log_probabilities.size(), 17);
  for (const auto& [source, target, line] : {std::tuple{20, 16, "source line 8 has 20 tokens"},
                                             std::tuple{19, 17, "target line 8 has 17 tokens"}}) {
    try {
      score(source, target);
      ADD_FAILURE() << line;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(line), std::string::npos) << error.what();
    }
  }
}

TEST(AlignWordsTest, AWordTakesTheWeightOfAllItsPieces) {
  // Source words: 0 of two pieces, 1, 2 of two pieces; then eos. Target: 0, 1 of two pieces; eos.
  const WordsOfPieces words = {{0, 0, 1, 2, 2}, {0, 1, 1}};
  const std::vector<std::vector<float>> weights_TS = {
      {0.3f, 0.2f, 0.4f, 0, 0, 0.1f},  // the largest piece is not in the largest word
      {0, 0, 0.6f, 0.3f, 0.1f, 0},     // 1 leads by this piece,
      {0, 0, 0.1f, 0.3f, 0.2f, 0.4f},  // 2 by both; eos has no word
      {0.9f, 0, 0, 0, 0, 0.1f},        // eos is no target word
  };
  EXPECT_EQ(AlignWords(words, weights_TS), (std::vector<AlignmentLink>{{0, 0}, {2, 1}}));
  EXPECT_EQ(AlignWords({{0, 1}, {0}}, {{0.5f, 0.5f}}), (std::vector<AlignmentLink>{{0, 0}}));
  EXPECT_TRUE(AlignWords({{}, {0}}, {{1.0f}}).empty());
}

}  // namespace
}  // namespace attend
