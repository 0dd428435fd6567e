#include "attend/translator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "attend/error.h"
#include "attend/scorer.h"
#include "base/files.h"
#include "engine/plain_transformer.h"
#include "kernels/inference/dispatch.h"
#include "model/quantize.h"
#include "model/shortlist.h"

namespace attend {
namespace {

void SetBoth(ModelConfig* config, const std::function<void(StackConfig*)>& set) {
  set(&*config->encoder);
  set(&*config->decoder);
}

// As BART's family has them: ids stand around source and target.
void AddFramed(std::map<std::string, ModelConfig>* all) {
  ModelConfig& bart = (*all)["bart"] = SmallConfig();
  SetBoth(&bart, [](StackConfig* c) {
    c->activation = Activation::kGelu;
    c->positions = PositionKind::kLearned;
    c->max_positions = 40;
    c->position_offset = 2;
    c->attention_bias = c->embedding_norm = true;
  });
  bart.source_begin = {9};
  bart.target_begin = {9};
  ModelConfig& mbart = (*all)["mbart"] = bart;
  SetBoth(&mbart, [](StackConfig* c) { c->norm_place = NormPlace::kPre; });
  mbart.source_begin.clear();
  mbart.source_end = {11};
  mbart.target_begin = {12, 13};
}

std::map<std::string, ModelConfig> Variants() {
  std::map<std::string, ModelConfig> all;
  AddFramed(&all);
  all["paper"] = SmallConfig();
  SetBoth(&(all["pre_gelu_bias"] = SmallConfig()), [](StackConfig* c) {
    c->norm_place = NormPlace::kPre;
    c->activation = Activation::kGelu;
    c->attention_bias = true;
  });
  SetBoth(&(all["swiglu_learned_untied"] = SmallConfig()), [](StackConfig* c) {
    c->activation = Activation::kSwiGlu;
    c->positions = PositionKind::kLearned;
    c->max_positions = 70;
    c->feed_forward_bias = false;
    c->position_offset = 2;
  });
  all["swiglu_learned_untied"].tie_source_target = false;
  all["swiglu_learned_untied"].tie_target_output = false;
  all["swiglu_learned_untied"].head_bias = true;
  SetBoth(&(all["widths_halves_offset"] = SmallConfig()), [](StackConfig* c) {
    c->d_k = 5;
    c->d_v = 11;
    c->position_convention = SinusoidConvention::kHalves;
    c->position_offset = 3;
    c->scale_embedding = false;
  });
  all["silu_geglu_timing"] = SmallConfig();
  SetBoth(&all["silu_geglu_timing"], [](StackConfig* c) {
    c->activation = Activation::kSilu;
    c->position_convention = SinusoidConvention::kTimingSignal;
  });
  all["silu_geglu_timing"].decoder->activation = Activation::kGeGluTanh;
  SetBoth(&(all["t5"] = SmallConfig()), [](StackConfig* c) {
    c->norm = NormKind::kRmsNorm;
    c->norm_place = NormPlace::kPre;
    c->positions = PositionKind::kRelative;
    c->relative_buckets = 8;
    c->relative_max_distance = 12;
    c->scale_embedding = c->feed_forward_bias = false;
    c->activation = Activation::kGeGluTanh;
  });
  SetBoth(&(all["window"] = SmallConfig()), [](StackConfig* c) { c->attention_window = 2; });
  all["ssru"] = SmallConfig();
  all["ssru"].decoder->recurrence = Recurrence::kSsru;
  all["no_positions_target_bias"] = SmallConfig();
  all["no_positions_target_bias"].head_bias = true;
  SetBoth(&all["no_positions_target_bias"],
          [](StackConfig* c) { c->positions = PositionKind::kNone; });
  return all;
}

std::shared_ptr<const Model> Int8Model(const ModelConfig& config) {
  return QuantizeModel(*MakeModel(config));
}

void ExpectTheSameBits(const std::shared_ptr<const Model>& model, const std::string& set) {
  const auto sentences = RandomSentences(64, 20, 3);
  const Translator one(model, {.threads = 1, .instruction_set = set}),
      two(model, {.threads = 2, .instruction_set = set});
  TranslationOptions options;
  options.max_length = 12;
  const auto alone = [&](const Translator& translator, std::vector<size_t> order, int64_t tokens) {
    std::vector<std::vector<int32_t>> given;
    for (const size_t i : order) given.push_back(sentences[i]);
    options.batch_tokens = tokens;
    const auto got = translator.TranslateIds(given, options);
    std::vector<Hypothesis> result(sentences.size());
    for (size_t i = 0; i < order.size(); ++i) result[order[i]] = got[i].hypotheses[0];
    return result;
  };
  std::vector<size_t> order(sentences.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto want = alone(one, order, 1);
  Random({9}).Shuffle(&order);
  for (const Translator* translator : {&one, &two}) {
    for (const int64_t tokens : {1, 45, 100000}) {
      const auto got = alone(*translator, order, tokens);
      for (size_t i = 0; i < want.size(); ++i) {
        EXPECT_EQ(got[i].ids, want[i].ids) << i;
        EXPECT_EQ(got[i].score, want[i].score) << i;
      }
    }
  }
}

void ExpectTheScorersBits(const std::shared_ptr<const Model>& model, const std::string& set) {
  const auto sentences = RandomSentences(6, 9, 5);
  TranslationOptions options;
  options.n_best = 4;
  options.max_length = 9;
  const auto translations =
      Translator(model, {.threads = 1, .instruction_set = set}).TranslateIds(sentences, options);
  const Scorer scorer(model, 1, set);
  int64_t finished = 0;
  for (size_t i = 0; i < sentences.size(); ++i) {
    ASSERT_EQ(translations[i].hypotheses.size(), 4u);
    for (const Hypothesis& hypothesis : translations[i].hypotheses) {
      const auto score = scorer.ScoreIds({{sentences[i]}}, {{hypothesis.ids}})[0];
      const auto& tokens = score.token_log_probabilities;  // eos last, which a cut one lacks
      const auto end = tokens.end() - (hypothesis.finished ? 0 : 1);
      EXPECT_EQ(std::accumulate(tokens.begin(), end, 0.0), hypothesis.log_probability);
      finished += hypothesis.finished;
    }
  }
  EXPECT_GT(finished, 3);
}

class EngineTest : public testing::TestWithParam<std::string> {};

TEST_P(EngineTest, LogProbabilitiesEqualThePlainFormulas) {
  const auto sources = RandomSentences(5, 19, 1), targets = RandomSentences(5, 12, 2);
  for (const auto& [name, config] : Variants()) {
    SCOPED_TRACE(name);
    const auto model = MakeModel(config);
    const auto scores = Scorer(model, 1, GetParam()).ScoreIds(sources, targets);
    for (size_t i = 0; i < sources.size(); ++i) {
      const auto want = Plain(*model).LogProbabilities(sources[i], targets[i]);
      ASSERT_EQ(scores[i].token_log_probabilities.size(), want.size());
      for (size_t t = 0; t < want.size(); ++t) {
        EXPECT_NEAR(scores[i].token_log_probabilities[t], want[t], 5e-5);
      }
    }
  }
}

// Where rounding to a step falls the other way in f32, a number moves by a step.
TEST_P(EngineTest, Int8LogProbabilitiesEqualThePlainFormulas) {
  const auto sources = RandomSentences(5, 19, 1), targets = RandomSentences(5, 12, 2);
  for (const auto& [name, config] : Variants()) {
    SCOPED_TRACE(name);
    const auto model = QuantizeModel(*MakeModel(config));
    const auto scores = Scorer(model, 1, GetParam()).ScoreIds(sources, targets);
    double worst = 0, sum = 0, count = 0;
    for (size_t i = 0; i < sources.size(); ++i) {
      const auto want = Plain(*model).LogProbabilities(sources[i], targets[i]);
      for (size_t t = 0; t < want.size(); ++t) {
        const double difference = std::abs(scores[i].token_log_probabilities[t] - want[t]);
        worst = std::max(worst, difference);
        sum += difference, ++count;
      }
    }
    EXPECT_LT(worst, 0.05);
    EXPECT_LT(sum / count, 5e-3);
  }
}

TEST_P(EngineTest, TheSameSentenceGivesTheSameBitsWhateverIsBesideIt) {
  const ModelConfig framed = Variants().at("mbart");
  for (const auto& model :
       {MakeModel(SmallConfig()), Int8Model(SmallConfig()), MakeModel(framed)}) {
    ExpectTheSameBits(model, GetParam());
  }
}

// Matrices of these sizes are shared by a team: the output layer with columns left over, in three
// unequal parts, and both of the feed-forward layer.
TEST_P(EngineTest, ASentenceThatAllThreadsShareHasTheSameBits) {
  ModelConfig config = SmallConfig(1300);
  SetBoth(&config, [](StackConfig* c) {
    c->d_model = 512;
    c->d_ff = 257;
  });
  const auto sentences = RandomSentences(3, 9, 5);
  TranslationOptions options;
  options.max_length = 7;
  for (const auto& model : {MakeModel(config), Int8Model(config)}) {
    const Translator one(model, {.threads = 1, .instruction_set = GetParam()}),
        three(model, {.threads = 3, .instruction_set = GetParam()});
    const auto want = one.TranslateIds(sentences, options);
    for (size_t i = 0; i < sentences.size(); ++i) {
      const auto got = three.TranslateIds({&sentences[i], 1}, options)[0].hypotheses[0];
      EXPECT_EQ(got.ids, want[i].hypotheses[0].ids);
      EXPECT_EQ(got.score, want[i].hypotheses[0].score);
    }
  }
}

TEST_P(EngineTest, EveryInstructionSetGivesTheSameBits) {
  const auto sources = RandomSentences(5, 19, 1), targets = RandomSentences(5, 12, 2);
  TranslationOptions options;
  options.max_length = 9;
  for (const auto& [name, config] : Variants()) {
    SCOPED_TRACE(name);
    for (const auto& model : {MakeModel(config), Int8Model(config)}) {
      const auto scores = [&](const std::string& set) {
        return Scorer(model, 1, set).ScoreIds(sources, targets);
      };
      const auto outputs = [&](const std::string& set) {
        return Translator(model, {.threads = 1, .instruction_set = set})
            .TranslateIds(sources, options);
      };
      const auto found = scores(GetParam()), plain = scores("reference");
      const auto output = outputs(GetParam()), plain_output = outputs("reference");
      for (size_t i = 0; i < sources.size(); ++i) {
        EXPECT_EQ(found[i].token_log_probabilities, plain[i].token_log_probabilities);
        const Hypothesis &got = output[i].hypotheses[0], &want = plain_output[i].hypotheses[0];
        EXPECT_EQ(got.ids, want.ids);
        EXPECT_EQ(got.score, want.score);
      }
    }
  }
}

TEST_P(EngineTest, SearchScoresAreTheScorersBits) {
  ModelConfig config = SmallConfig();
  config.tie_target_output = false;  // or none of these few ends by itself
  ModelConfig framed = config;
  framed.source_begin = {9};
  framed.target_begin = {11, 12};
  for (const auto& model : {MakeModel(config), Int8Model(config), MakeModel(framed)}) {
    ExpectTheScorersBits(model, GetParam());
  }
}
INSTANTIATE_TEST_SUITE_P(All, EngineTest, testing::ValuesIn(AvailableInstructionSets()),
                         [](const auto& info) { return info.param; });

// A shortlist that leaves nothing out changes nothing; one that does leaves its words out, and a
// sentence's list is its own, whatever shares the batch.
TEST(TranslatorTest, AShortlistHoldsASentenceToItsWords) {
  const std::string path = testing::TempDir() + "/translator_test.shortlist";
  const auto sentences = RandomSentences(20, 9, 5);
  for (const auto& model : {MakeModel(SmallConfig()), Int8Model(SmallConfig())}) {
    Shortlist shortlist;
    shortlist.candidates.resize(40);
    for (int32_t id = 0; id < 40; ++id) {
      shortlist.frequent.push_back(id);
      shortlist.candidates[id] = {id, (id * 7 + 1) % 40};
    }
    const TranslationOptions options{.max_length = 12};
    const auto translate = [&](const auto& given) {
      AtomicFile file(path);
      SaveShortlist(shortlist, *model, &file);
      return Translator(model, {.threads = 2, .shortlist = path}).TranslateIds(given, options);
    };
    const auto whole = Translator(model, {.threads = 1}).TranslateIds(sentences, options);
    const auto all = translate(sentences);
    for (size_t i = 0; i < sentences.size(); ++i) {
      EXPECT_EQ(all[i].hypotheses[0].ids, whole[i].hypotheses[0].ids);
      EXPECT_EQ(all[i].hypotheses[0].score, whole[i].hypotheses[0].score);
    }
    shortlist.frequent = {4};
    const auto some = translate(sentences);
    for (size_t i = 0; i < sentences.size(); ++i) {
      std::vector<int32_t> source = sentences[i];
      source.push_back(3);  // the encoder reads eos too
      const std::vector<int32_t> columns = shortlist.Columns(source);
      for (const int32_t id : some[i].hypotheses[0].ids) {
        EXPECT_TRUE(std::ranges::binary_search(columns, id)) << id;
      }
      const auto alone =
          translate(std::vector<std::vector<int32_t>>{sentences[i]})[0].hypotheses[0];
      EXPECT_EQ(alone.ids, some[i].hypotheses[0].ids);
      EXPECT_EQ(alone.score, some[i].hypotheses[0].score);
    }
  }
}

TEST(TranslatorTest, AForcedPrefixOpensTheOutput) {
  const Translator translator(MakeModel(SmallConfig()), {.threads = 1});
  TranslationOptions options;
  options.max_length = 8;
  const auto result = translator.TranslateIds({{{5, 6, 7}}}, options, {{{9, 10, 11}}});
  const std::vector<int32_t>& ids = result[0].hypotheses[0].ids;
  ASSERT_GE(ids.size(), 3u);
  EXPECT_EQ(std::vector<int32_t>(ids.begin(), ids.begin() + 3), (std::vector<int32_t>{9, 10, 11}));
}

TEST(TranslatorTest, EqualMinimumAndMaximumForceALength) {
  int64_t ended = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    ModelConfig config = SmallConfig(8);
    config.tie_target_output = false;
    const Translator translator(MakeModel(config, seed), {.threads = 1});
    TranslationOptions options;
    options.beam_size = seed % 2 == 0 ? 1 : 4;
    options.max_length = 12;
    ended += translator.TranslateIds({{{4, 5}}}, options)[0].hypotheses[0].finished;
    options.min_length = 12;
    const Translation forced = translator.TranslateIds({{{4, 5}}}, options)[0];
    EXPECT_EQ(forced.hypotheses[0].ids.size(), 12u);
    EXPECT_FALSE(forced.hypotheses[0].finished);
  }
  EXPECT_GT(ended, 3);  // or the test would show nothing
}

TEST(TranslatorTest, TheWorkOfEveryPartIsAdded) {
  const Translator translator(MakeModel(SmallConfig()), {.threads = 2});
  const auto sources = RandomSentences(20, 9, 6);
  WorkSeconds work;
  TranslationOptions options;
  options.max_length = 12;
  const auto plain = translator.TranslateIds(sources, options);
  options.work = &work;
  const auto timed = translator.TranslateIds(sources, options);
  for (size_t i = 0; i < sources.size(); ++i) {
    EXPECT_EQ(timed[i].hypotheses[0].ids, plain[i].hypotheses[0].ids);
  }
  for (const double part : {work.encoder, work.self_attention, work.cross_attention,
                            work.feed_forward, work.output, work.search, work.rest}) {
    EXPECT_GT(part, 0);
  }
  const WorkSeconds once = work;
  translator.TranslateIds(sources, options);
  EXPECT_GT(work.output, once.output);
}

TEST(TranslatorTest, WhereNoOutputIsAllowedItIsTheWorstOfAll) {
  ModelConfig config = SmallConfig(4);  // pad, unk, bos and eos alone
  const Translator translator(MakeModel(config), {.threads = 1});
  TranslationOptions options{.n_best = 2, .min_length = 3};
  const Translation found = translator.TranslateIds({{{1, 1}}}, options)[0];
  ASSERT_EQ(found.hypotheses.size(), 1u);
  for (const Hypothesis& hypothesis : found.hypotheses) {
    EXPECT_TRUE(hypothesis.ids.empty());
    EXPECT_FALSE(hypothesis.finished);
    EXPECT_EQ(hypothesis.score, -INFINITY);
    EXPECT_EQ(hypothesis.log_probability, -INFINITY);
  }
  options.min_length = 0;  // eos may stand
  const Hypothesis empty = translator.TranslateIds({{{1, 1}}}, options)[0].hypotheses[0];
  EXPECT_TRUE(empty.finished);
  EXPECT_TRUE(std::isfinite(empty.score));
}

TEST(TranslatorTest, LearnedPositionsBoundTheInput) {
  ModelConfig config = SmallConfig();
  EXPECT_GT(Translator(MakeModel(config), {.threads = 1}).max_input_tokens(), int64_t{1} << 40);
  config.encoder->positions = PositionKind::kLearned;
  config.encoder->max_positions = 20;
  config.encoder->position_offset = 2;
  const Translator translator(MakeModel(config), {.threads = 1});
  const int64_t most = translator.max_input_tokens();
  EXPECT_EQ(most, 17);
  config.source_begin = config.source_end = {5};
  EXPECT_EQ(Translator(MakeModel(config), {.threads = 1}).max_input_tokens(), 15);
  const auto translate = [&](int64_t length) {
    return translator.TranslateIds({{std::vector<int32_t>(length, 5)}}, {.max_length = 2});
  };
  EXPECT_NO_THROW(translate(most));
  EXPECT_THROW(translate(most + 1), Error);
}

TEST_P(EngineTest, WithoutScoresAGreedySearchGivesTheSameOutputs) {
  ModelConfig config = SmallConfig();
  config.tie_target_output = false;
  const auto sources = RandomSentences(40, 9, 5);
  std::vector<std::vector<int32_t>> prefixes(sources.size());
  prefixes[3] = {7, 8};
  for (const auto& model : {MakeModel(config), Int8Model(config)}) {
    const Translator translator(model, {.threads = 1, .instruction_set = GetParam()});
    for (const int64_t beam_size : {1, 3}) {
      TranslationOptions options{.beam_size = beam_size, .max_length = 12};
      const auto scored = translator.TranslateIds(sources, options, prefixes);
      options.scores = false;
      const auto found = translator.TranslateIds(sources, options, prefixes);
      for (size_t i = 0; i < sources.size(); ++i) {
        const Hypothesis &got = found[i].hypotheses[0], &want = scored[i].hypotheses[0];
        EXPECT_EQ(got.ids, want.ids);
        EXPECT_EQ(got.finished, want.finished);
        EXPECT_EQ(got.score, beam_size == 1 ? 0 : want.score);
      }
    }
  }
}

TEST(TranslatorTest, AMinimumLengthMovesTheDefaultMaximum) {
  ModelConfig config = SmallConfig(8);
  config.tie_target_output = false;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const Translator translator(MakeModel(config, seed), {.threads = 1});
    const Translation found =
        translator.TranslateIds({{{4, 5}}}, {.beam_size = 1, .min_length = 60})[0];
    EXPECT_GE(found.hypotheses[0].ids.size(), 60u);
  }
}

TEST(TranslatorTest, AnOutputCutWhereLearnedPositionsEndIsAlignedToo) {
  ModelConfig config = SmallConfig();
  config.decoder->positions = PositionKind::kLearned;
  config.decoder->max_positions = 9;
  config.decoder->position_offset = 2;
  const Translator translator(MakeModel(config), {.threads = 1});
  const TranslationOptions options{.min_length = 20, .alignments = true};
  const Hypothesis cut = translator.TranslateIds({{{5, 6, 7}}}, options)[0].hypotheses[0];
  EXPECT_EQ(cut.ids.size(), 7u);
  EXPECT_EQ(cut.alignment.size(), 6u);  // the last piece was never read
  config.target_begin = {8, 9};
  const Translator framed(MakeModel(config), {.threads = 1});
  const Hypothesis shorter = framed.TranslateIds({{{5, 6, 7}}}, options)[0].hypotheses[0];
  EXPECT_EQ(shorter.ids.size(), 5u);
  EXPECT_EQ(shorter.alignment.size(), 4u);
}

// The sentence of bad numbers is the longest and so the first; the other thread must not go through
// all that wait behind it.
TEST(TranslatorTest, AnErrorOnOneThreadEndsTheOthers) {
  ModelConfig config = SmallConfig();
  config.tie_source_target = false;
  const auto model = MakeModel(config);
  auto sentences = RandomSentences(2000, 9, 6);
  for (auto& sentence : sentences) std::ranges::replace(sentence, 39, 38);
  TranslationOptions options{.max_length = 12, .batch_tokens = 10};
  WorkSeconds all, some;
  options.work = &all;
  const Translator translator(model, {.threads = 2});
  translator.TranslateIds(sentences, options);
  sentences.emplace_back(30, 39);
  const TensorView& embedding = model->tensors.Get("encoder.embedding.weight");
  const_cast<float*>(embedding.f32())[39 * 16] = NAN;
  options.work = &some;
  EXPECT_THROW(Translator(model, {.threads = 2}).TranslateIds(sentences, options), Error);
  EXPECT_LT(some.self_attention, all.self_attention / 2);
}

TEST(TranslatorTest, OptionsThatMakeNoSenseAreErrors) {
  using Sentences = std::vector<std::vector<int32_t>>;
  const Translator translator(MakeModel(SmallConfig()), {.threads = 1});
  for (const auto set :
       {+[](TranslationOptions* o) { o->beam_size = 0; },
        +[](TranslationOptions* o) { o->n_best = 5; },
        +[](TranslationOptions* o) { o->length_penalty = -1; },
        +[](TranslationOptions* o) { o->length_penalty = NAN; },
        +[](TranslationOptions* o) { o->max_length = -3; },
        +[](TranslationOptions* o) { o->max_length = (o->min_length = 9) - 1; },
        +[](TranslationOptions* o) { o->alignments = true, o->alignment_layer = 3; },
        +[](TranslationOptions* o) { o->beam_groups = 3; },
        +[](TranslationOptions* o) { o->temperature = 0.5; },
        +[](TranslationOptions* o) { o->sample = true, o->beam_groups = 2; },
        +[](TranslationOptions* o) { o->sample = true, o->mbr = MbrUtility::kChrf; },
        +[](TranslationOptions* o) { o->mbr = MbrUtility::kChrf; },  // of ids alone
        +[](TranslationOptions* o) { o->batch_sentences = 0; },
        +[](TranslationOptions* o) { o->batch_tokens = 0; }}) {
    TranslationOptions options;
    set(&options);
    EXPECT_THROW(translator.TranslateIds(Sentences(1, {5}), options), Error);
  }
  EXPECT_THROW(translator.TranslateIds(Sentences(1, {40})), Error);
  EXPECT_THROW(translator.TranslateIds(Sentences(1, {-1})), Error);
  EXPECT_THROW(translator.Encode("text"), Error);
}

}  // namespace
}  // namespace attend
