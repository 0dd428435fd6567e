// Counts against the paper's shapes by hand. python/tests/flops_test.py and
// tests/model/rivals_flops_test.py have PyTorch's counter.
#include "model/operations.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

namespace attend {
namespace {

std::map<std::string, double> Count(const ModelConfig& config, const TextLengths& lengths) {
  std::map<std::string, double> counts;
  for (const OperationPart& part : CountOperations(config, lengths)) {
    EXPECT_TRUE(counts.emplace(part.name, part.forward).second) << part.name;
    const bool in_attention = part.name.ends_with(".scores") || part.name.ends_with(".sums");
    EXPECT_EQ(part.has_weights, !in_attention) << part.name;
  }
  return counts;
}

ModelConfig Preset(const std::string& name) {
  ModelConfig config = PresetConfig(name);
  config.source_vocab_size = config.target_vocab_size = 37000;
  return config;
}

TEST(OperationsTest, BaseByHand) {
  const double d = 512, d_ff = 2048, n = 25, m = 30;  // tokens of source and target
  const std::map<std::string, double> expected = {
      {"encoder.embedding", 0},
      {"encoder.self_attention.projections", 6 * 2 * n * 4 * d * d},
      {"encoder.self_attention.scores", 6 * 2 * n * n * d},
      {"encoder.self_attention.sums", 6 * 2 * n * n * d},
      {"encoder.feed_forward", 6 * 2 * n * 2 * d * d_ff},
      {"decoder.embedding", 0},
      {"decoder.self_attention.projections", 6 * 2 * m * 4 * d * d},
      {"decoder.self_attention.scores", 6 * 2 * m * m * d},
      {"decoder.self_attention.sums", 6 * 2 * m * m * d},
      {"decoder.cross_attention.projections", 6 * 2 * (2 * m + 2 * n) * d * d},
      {"decoder.cross_attention.scores", 6 * 2 * n * m * d},
      {"decoder.cross_attention.sums", 6 * 2 * n * m * d},
      {"decoder.feed_forward", 6 * 2 * m * 2 * d * d_ff},
      {"head.output", 2 * m * d * 37000},
  };
  const ModelConfig config = Preset("base");
  EXPECT_EQ(Count(config, LengthsOf(config, 25, 30)), expected);
}

TEST(OperationsTest, WidthsOfHeadsOfTheirOwn) {  // the paper's rows B
  ModelConfig config = Preset("base");
  config.encoder->d_k = 16;
  const auto counts = Count(config, LengthsOf(config, 10, 10));
  EXPECT_EQ(counts.at("encoder.self_attention.scores"), 6 * 2 * 100 * 128);
  EXPECT_EQ(counts.at("encoder.self_attention.sums"), 6 * 2 * 100 * 512);
  EXPECT_EQ(counts.at("encoder.self_attention.projections"),
            6.0 * 2 * 10 * 512 * (2 * 128 + 2 * 512));
}

TEST(OperationsTest, AWindowLeavesThePairsWithinIt) {
  ModelConfig config = Preset("base");
  for (const int64_t length : {1, 5, 40}) {
    for (const int64_t window : {1, 3, 39, 60}) {
      config.encoder->attention_window = config.decoder->attention_window = window;
      double both_ways = 0, before = 0;
      for (int64_t query = 0; query < length; ++query) {
        for (int64_t key = 0; key < length; ++key) {
          both_ways += std::abs(query - key) <= window;
          before += key <= query && query - key <= window;
        }
      }
      const auto counts = Count(config, LengthsOf(config, length, length));
      EXPECT_EQ(counts.at("encoder.self_attention.scores"), 6 * 2 * both_ways * 512);
      EXPECT_EQ(counts.at("decoder.self_attention.sums"), 6 * 2 * before * 512);
      EXPECT_EQ(counts.at("decoder.cross_attention.sums"),
                6 * 2 * static_cast<double>(length * length) * 512);
    }
  }
}

TEST(OperationsTest, RivalsByHand) {
  ModelConfig config = Preset("lstm");
  config.encoder->layers = config.decoder->layers = 3;
  const double d = 256, n = 25, m = 30;
  std::map<std::string, double> expected = {
      {"encoder.embedding", 0},
      {"encoder.recurrence", 2 * n * (2 * 4 * d / 2 * (d + d / 2) + 2 * 4 * d * 2 * d)},
      {"decoder.embedding", 0},
      {"decoder.recurrence", 2 * m * (4 * d * 2 * d + 2 * 4 * d * 3 * d)},
      {"decoder.attention.projections", 2 * (2 * m + 2 * n) * d * d},
      {"decoder.attention.scores", 2 * n * m * d},
      {"decoder.attention.sums", 2 * n * m * d},
      {"head.output", 2 * m * d * 37000},
  };
  EXPECT_EQ(Count(config, LengthsOf(config, 25, 30)), expected);
  config.architecture = Architecture::kGru;
  EXPECT_EQ(Count(config, LengthsOf(config, 25, 30)).at("encoder.recurrence"),
            expected["encoder.recurrence"] * 3 / 4);
  config = Preset("convolution");  // 4 + 3 layers, windows of 3 tokens
  expected = {
      {"encoder.embedding", 0},
      {"encoder.input", 2 * n * d * d},
      {"encoder.convolution", 4 * 2 * n * 3 * d * 2 * d},
      {"encoder.output", 2 * n * d * d},
      {"decoder.embedding", 0},
      {"decoder.input", 2 * m * d * d},
      {"decoder.convolution", 3 * 2 * m * 3 * d * 2 * d},
      {"decoder.attention.projections", 3 * 2 * m * 2 * d * d},
      {"decoder.attention.scores", 3 * 2 * n * m * d},
      {"decoder.attention.sums", 3 * 2 * n * m * d},
      {"decoder.output", 2 * m * d * d},
      {"head.output", 2 * m * d * 37000},
  };
  EXPECT_EQ(Count(config, LengthsOf(config, 25, 30)), expected);
  config.encoder->separable = true;
  EXPECT_EQ(Count(config, LengthsOf(config, 25, 30)).at("encoder.convolution"),
            4 * (2 * n * 3 * d + 2 * n * d * 2 * d));
}

TEST(OperationsTest, RowsThatTheHeadReads) {
  ModelConfig config = Preset("bert-tiny");
  EXPECT_EQ(LengthsOf(config, 7, 9).outputs, 7);
  EXPECT_EQ(LengthsOf(config, 7, 9).target, 0);
  config.head = HeadKind::kLabels;
  config.pooling = Pooling::kMean;
  EXPECT_EQ(LengthsOf(config, 7, 9).outputs, 1);
  EXPECT_EQ(LengthsOf(Preset("gpt-char"), 7, 9).outputs, 9);
  EXPECT_EQ(LengthsOf(Preset("gpt-char"), 7, 9).source, 0);
}

}  // namespace
}  // namespace attend
