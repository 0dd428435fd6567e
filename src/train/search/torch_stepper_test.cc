// Searches over LibTorch against the engine's, and against their own answers whatever shares the
// batch.
#include "train/search/torch_stepper.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "attend/error.h"
#include "attend/scorer.h"
#include "attend/translator.h"
#include "base/random.h"
#include "model/model_fixture.h"
#include "train/tasks/run_model.h"

namespace attend {
namespace {

std::vector<std::vector<int32_t>> Sources(int count) {
  std::vector<std::vector<int32_t>> sources;
  for (int i = 0; i < count; ++i) {
    Random random{7, static_cast<uint64_t>(i)};
    std::vector<int32_t>& source = sources.emplace_back();
    for (auto length = 1 + static_cast<int64_t>(random.Below(12)); length > 0; --length)
      source.push_back(static_cast<int32_t>(4 + random.Below(36)));
  }
  return sources;
}

std::shared_ptr<const Model> Of(const ModelConfig& config) {
  auto model = std::make_shared<Model>();
  model->config = config;
  model->tensors = RandomTensors(config, 1, 0.3);
  return model;
}

Translator ByTorch(const std::shared_ptr<const Model>& model, int threads = 1) {
  return {RunByTorch(model, SequenceModelOf(*model, torch::kCPU)), {.threads = threads}};
}

std::map<std::string, ModelConfig> Transformers() {
  std::map<std::string, ModelConfig> models{{"the paper's", SmallConfig()}};
  ModelConfig config = SmallConfig();
  config.decoder->recurrence = Recurrence::kSsru;
  models["ssru"] = config;
  config = SmallConfig();
  for (StackConfig* stack : {&*config.encoder, &*config.decoder}) {
    stack->positions = PositionKind::kRelative;
    stack->norm = NormKind::kRmsNorm;
    stack->norm_place = NormPlace::kPre;
    stack->activation = Activation::kGeGluTanh;
  }
  models["t5"] = config;
  return models;
}

// Ids of 99.9 % and log-probabilities within 1e-4 are asked for; these few are all equal.
TEST(TorchStepperTest, FindsWhatTheEngineFinds) {
  const auto sources = Sources(40);
  for (const auto& [name, config] : Transformers()) {
    const auto model = Of(config);
    const Translator engine(model, {.threads = 1}), torch = ByTorch(model);
    for (const int64_t beam : {1, 4}) {
      const TranslationOptions options{.beam_size = beam, .n_best = beam, .max_length = 15};
      const auto expected = engine.TranslateIds(sources, options),
                 found = torch.TranslateIds(sources, options);
      for (size_t i = 0; i < sources.size(); ++i) {
        ASSERT_EQ(found[i].hypotheses.size(), expected[i].hypotheses.size()) << name << " " << i;
        for (size_t n = 0; n < expected[i].hypotheses.size(); ++n) {
          const Hypothesis &one = expected[i].hypotheses[n], &other = found[i].hypotheses[n];
          EXPECT_EQ(other.ids, one.ids) << name << ", source " << i << ", rank " << n;
          EXPECT_NEAR(other.log_probability, one.log_probability, 1e-4) << name << " " << i;
          EXPECT_EQ(other.finished, one.finished) << name << " " << i;
        }
      }
    }
  }
}

TEST(TorchStepperTest, BeginsWithPrefixes) {
  const auto model = Of(SmallConfig());
  const auto sources = Sources(6);
  const std::vector<std::vector<int32_t>> prefixes = {{5}, {6, 7, 8}, {}, {9, 10}, {11}, {12}};
  const TranslationOptions options{.max_length = 12};
  const auto expected = Translator(model, {.threads = 1}).TranslateIds(sources, options, prefixes),
             found = ByTorch(model).TranslateIds(sources, options, prefixes);
  for (size_t i = 0; i < sources.size(); ++i)
    EXPECT_EQ(found[i].hypotheses[0].ids, expected[i].hypotheses[0].ids) << i;
}

ModelConfig SmallRival(Architecture architecture) {
  ModelConfig config = PresetConfig(PresetOf(architecture));
  config.architecture = architecture;
  config.source_vocab_size = config.target_vocab_size = 40;
  config.encoder->d_model = config.decoder->d_model = 16;
  return config;
}

// The same text alone, among others and by another number of threads.
TEST(TorchStepperTest, RivalsFindTheSameInAnyCompany) {
  for (const Architecture architecture :
       {Architecture::kLstm, Architecture::kGru, Architecture::kConvolution}) {
    const auto model = Of(SmallRival(architecture));
    const auto sources = Sources(20);
    const TranslationOptions options{.max_length = 15};
    const auto together = ByTorch(model, 2).TranslateIds(sources, options);
    const Translator translator = ByTorch(model);
    for (size_t i = 0; i < sources.size(); ++i) {
      const auto alone = translator.TranslateIds({&sources[i], 1}, options);
      EXPECT_EQ(alone[0].hypotheses[0].ids, together[i].hypotheses[0].ids)
          << ArchitectureName(architecture) << " " << i;
      EXPECT_NEAR(alone[0].hypotheses[0].log_probability, together[i].hypotheses[0].log_probability,
                  1e-4);
    }
  }
}

TEST(TorchStepperTest, TheEngineSaysWhatItDoesNotRun) {
  const auto model = Of(SmallRival(Architecture::kLstm));
  const auto refused = [&](const std::function<void()>& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refused([&] { Load(model); }).find("architecture is lstm"), std::string::npos);
  const auto by_torch = RunByTorch(model, SequenceModelOf(*model, torch::kCPU));
  EXPECT_NE(refused([&] {
              const std::vector<std::vector<int32_t>> ids = {{5}};
              Scorer(by_torch, /*threads=*/1).ScoreIds(ids, ids, {.alignments = true});
            }).find("alignments are of attend's own engine"),
            std::string::npos);
}

Scorer ScorerByTorch(const std::shared_ptr<const Model>& model, int threads) {
  return {RunByTorch(model, SequenceModelOf(*model, torch::kCPU)), threads};
}

TEST(TorchStepperTest, ScoresAsTheEngine) {
  const auto sources = Sources(40);
  const std::vector<std::vector<int32_t>> targets(sources.rbegin(), sources.rend());
  for (const auto& [name, config] : Transformers()) {
    const auto model = Of(config);
    const auto expected = Scorer(model, /*threads=*/1).ScoreIds(sources, targets),
               found = ScorerByTorch(model, 2).ScoreIds(sources, targets, {.batch_tokens = 60});
    for (size_t i = 0; i < sources.size(); ++i) {
      const auto &one = expected[i].token_log_probabilities,
                 &other = found[i].token_log_probabilities;
      ASSERT_EQ(other.size(), one.size()) << name << " " << i;
      for (size_t t = 0; t < one.size(); ++t)
        EXPECT_NEAR(other[t], one[t], 1e-4) << name << " " << i << " " << t;
      EXPECT_NEAR(found[i].log_probability, expected[i].log_probability, 1e-3) << name << " " << i;
    }
  }
}

TEST(TorchStepperTest, RivalsScoreWhatTheyFind) {
  for (const Architecture architecture :
       {Architecture::kLstm, Architecture::kGru, Architecture::kConvolution}) {
    const auto model = Of(SmallRival(architecture));
    const auto sources = Sources(20);
    const auto found = ByTorch(model).TranslateIds(sources, {.beam_size = 1, .max_length = 15});
    std::vector<std::vector<int32_t>> targets;
    for (const auto& translation : found) targets.push_back(translation.hypotheses[0].ids);
    const auto scores = ScorerByTorch(model, 1).ScoreIds(sources, targets);
    for (size_t i = 0; i < sources.size(); ++i) {
      const Hypothesis& hypothesis = found[i].hypotheses[0];
      // What the bound on the length cut has no eos.
      const double end = hypothesis.finished ? 0 : scores[i].token_log_probabilities.back();
      EXPECT_NEAR(scores[i].log_probability - end, hypothesis.log_probability, 1e-4)
          << ArchitectureName(architecture) << " " << i;
    }
  }
}

}  // namespace
}  // namespace attend
