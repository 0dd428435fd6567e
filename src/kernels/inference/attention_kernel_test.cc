#include <gtest/gtest.h>

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/inference/dispatch.h"
#include "kernels/inference/kernels.h"
#include "kernels/inference/kernels_fixture.h"

namespace attend {
namespace {

class AttentionKernelTest : public KernelsTest {};

struct AttentionResult {
  std::vector<float> weights, output;
};

// What one head of a query sees.
struct Seen {
  std::vector<std::span<const float>> keys, values;
  const float* bias;  // null for none
};

void ExpectAttention(const AttentionResult& got, int64_t head, std::span<const float> query,
                     const Seen& seen) {
  const auto& [keys, values, bias] = seen;
  std::vector<float> scores;
  for (size_t j = 0; j < keys.size(); ++j) {
    double dot = 0;
    for (size_t k = 0; k < query.size(); ++k) dot += double{query[k]} * keys[j][k];
    scores.push_back(static_cast<float>(dot * 0.3 + (bias != nullptr ? bias[j] : 0)));
  }
  const std::vector<double> weights = Softmaxed(scores);
  for (size_t j = 0; j < keys.size(); ++j) {
    EXPECT_NEAR(got.weights[head * keys.size() + j], weights[j], 3e-6);
  }
  const size_t d_v = (got.output.size() - 1) / 3;
  for (size_t v = 0; v < d_v; ++v) {
    double sum = 0;
    for (size_t j = 0; j < keys.size(); ++j) sum += weights[j] * values[j][v];
    EXPECT_NEAR(got.output[head * d_v + v], sum, 1e-5);
  }
}

class SingleQueries : public testing::TestWithParam<std::tuple<std::string, bool>> {};

TEST_P(SingleQueries, EqualTheFormulaAndTheReference) {
  const auto& [set, biased] = GetParam();
  const KernelTable &tested = SelectKernels(set), &oracle = *ReferenceKernels();
  const int64_t bias_stride = 36;
  const auto biases = RandomFloats(3 * bias_stride, 3);
  const float* const bias = biased ? biases.data() : nullptr;
  for (const int64_t count : {0, 1, 7, 8, 16, 17, 33}) {
    for (const int64_t d_k : {1, 8, 13, 16, 40, 64}) {
      const int64_t heads = 3, d_v = d_k + 3;
      const int64_t width = 5 + heads * (d_k + d_v);
      const auto query = RandomFloats(heads * d_k, 1), cache = RandomFloats(40 * width, 2);
      std::vector<const float*> rows;
      for (int64_t j = 0; j < count; ++j) rows.push_back(cache.data() + j * 7 % 40 * width);
      const auto attend = [&](const KernelTable& kernels) {
        AttentionResult result{std::vector<float>(heads * count + 1, 5),
                               std::vector<float>(heads * d_v + 1, 5)};
        kernels.attention({.query = query.data(),
                           .queries = 1,
                           .rows = rows.data(),
                           .keys = 5,
                           .values = 5 + heads * d_k,
                           .count = count,
                           .heads = heads,
                           .d_k = d_k,
                           .d_v = d_v,
                           .scale = 0.3f,
                           .weights = result.weights.data(),
                           .output = result.output.data(),
                           .bias = bias,
                           .bias_stride = bias_stride});
        return result;
      };
      const AttentionResult got = attend(tested), want = attend(oracle);
      EXPECT_EQ(got.weights, want.weights);
      EXPECT_EQ(got.output, want.output);
      for (int64_t h = 0; h < heads; ++h) {
        Seen seen{{}, {}, biased ? bias + h * bias_stride : nullptr};
        for (const float* row : rows) {
          seen.keys.emplace_back(row + 5 + h * d_k, d_k);
          seen.values.emplace_back(row + 5 + heads * d_k + h * d_v, d_v);
        }
        ExpectAttention(got, h, {query.data() + h * d_k, static_cast<size_t>(d_k)}, seen);
      }
    }
  }
}

// Of some queries: all of a text that sees itself whole, or each one row more than the one before.
struct TogetherCase {
  int64_t queries, count, growth, d_k, d_v;
};

// The same queries together and one by one, with a bias of distances or without.
void ExpectTogether(const KernelTable& kernels, const TogetherCase& c, bool biased) {
  const int64_t heads = 2, most = c.count + (c.queries - 1) * c.growth;
  const int64_t query_stride = heads * c.d_k + 3, output_stride = heads * c.d_v + 2;
  const int64_t width = heads * (c.d_k + c.d_v);
  const auto query = RandomFloats(c.queries * query_stride, 1),
             cache = RandomFloats(most * width, 2);
  std::vector<const float*> rows;
  for (int64_t j = 0; j < most; ++j) rows.push_back(cache.data() + j * width);
  std::vector<float> weights(c.queries * heads * most + 1, 5), output(c.queries * output_stride, 5);
  std::vector<float> alone_weights = weights, alone_output = output;
  AttentionArguments arguments = {
      query.data(),  query_stride, c.queries,      rows.data(),   0,
      heads * c.d_k, c.count,      c.growth,       heads,         c.d_k,
      c.d_v,         0.3f,         weights.data(), output.data(), output_stride};
  std::vector<float> scratch(AttentionScratch(arguments)), weightless_output = output;
  arguments.scratch = scratch.data();
  arguments.bias_stride = most + c.queries;
  const auto biases = RandomFloats(heads * arguments.bias_stride, 3);
  if (biased) arguments.bias = biases.data() + c.queries;
  kernels.attention(arguments);
  arguments.weights = nullptr;
  arguments.output = weightless_output.data();
  kernels.attention(arguments);
  arguments.queries = 1;
  for (int64_t q = 0; q < c.queries; ++q) {
    arguments.query = query.data() + q * query_stride;
    arguments.weights = alone_weights.data() + q * heads * most;
    arguments.output = alone_output.data() + q * output_stride;
    kernels.attention(arguments);
    arguments.count += c.growth;
    if (biased) --arguments.bias;
  }
  EXPECT_EQ(weights, alone_weights);
  EXPECT_EQ(output, alone_output);
  EXPECT_EQ(weightless_output, alone_output);
}

TEST_P(AttentionKernelTest, QueriesTogetherAttendAsEachAlone) {
  for (const TogetherCase& each : {TogetherCase{2, 0, 1, 8, 8},
                                   {16, 33, 0, 64, 64},
                                   {5, 9, 1, 13, 21},
                                   {3, 1, 1, 64, 130},
                                   {2, 4, 0, 1, 1},
                                   {20, 1, 1, 48, 48},
                                   {13, 50, 0, 24, 17},
                                   {7, 20, 1, 32, 96}}) {
    for (const bool biased : {false, true}) {
      ExpectTogether(kernels_, each, biased);
      ExpectTogether(reference_, each, biased);
    }
  }
}

// Hypotheses of a beam, of which the first `shared` rows are the same; later ones are so by chance.
struct BeamCase {
  int64_t queries, count, shared, heads, d_k, d_v;
};

void ExpectBeam(const KernelTable& kernels, const BeamCase& c, bool biased) {
  const int64_t row_count = 40, width = c.heads * (c.d_k + c.d_v);
  const int64_t query_stride = c.heads * c.d_k + 3, output_stride = c.heads * c.d_v + 2;
  const auto query = RandomFloats(c.queries * query_stride, 1),
             cache = RandomFloats(row_count * width, 2);
  std::vector<std::vector<const float*>> rows(c.queries);
  std::vector<const float* const*> lists;
  for (int64_t q = 0; q < c.queries; ++q) {
    for (int64_t j = 0; j < c.count; ++j) {
      const int64_t row = j < c.shared ? j : j * (q % 3 + 1);
      rows[q].push_back(cache.data() + row % row_count * width);
    }
    lists.push_back(rows[q].data());
  }
  std::vector<float> weights(c.queries * c.heads * c.count + 1, 5),
      output(c.queries * output_stride, 5);
  std::vector<float> alone_weights = weights, alone_output = output;
  AttentionArguments arguments = {query.data(),
                                  query_stride,
                                  c.queries,
                                  nullptr,
                                  0,
                                  c.heads * c.d_k,
                                  c.count,
                                  0,
                                  c.heads,
                                  c.d_k,
                                  c.d_v,
                                  0.3f,
                                  weights.data(),
                                  output.data(),
                                  output_stride};
  const auto biases = RandomFloats(c.heads * (c.count + 2), 3);
  if (biased) arguments.bias = biases.data(), arguments.bias_stride = c.count + 2;
  arguments.lists = lists.data();
  kernels.attention(arguments);
  arguments.lists = nullptr;
  arguments.queries = 1;
  for (int64_t q = 0; q < c.queries; ++q) {
    arguments.query = query.data() + q * query_stride;
    arguments.rows = lists[q];
    arguments.weights = alone_weights.data() + q * c.heads * c.count;
    arguments.output = alone_output.data() + q * output_stride;
    ReferenceKernels()->attention(arguments);
  }
  EXPECT_EQ(weights, alone_weights);
  EXPECT_EQ(output, alone_output);
}

TEST_P(AttentionKernelTest, ABeamAttendsAsEachHypothesisAlone) {
  for (const BeamCase& each : {BeamCase{4, 33, 20, 8, 64, 64},
                               {4, 16, 16, 2, 64, 64},
                               {4, 21, 3, 5, 13, 21},
                               {6, 17, 9, 4, 40, 24},
                               {3, 12, 7, 6, 16, 130},
                               {1, 9, 0, 5, 32, 32},
                               {5, 0, 0, 1, 8, 8}}) {
    for (const bool biased : {false, true}) {
      ExpectBeam(kernels_, each, biased);
      ExpectBeam(reference_, each, biased);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SingleQueries,
                         testing::Combine(testing::ValuesIn(AvailableInstructionSets()),
                                          testing::Bool()),
                         [](const auto& info) {
                           return std::get<0>(info.param) +
                                  (std::get<1>(info.param) ? "_biased" : "");
                         });

INSTANTIATE_TEST_SUITE_P(All, AttentionKernelTest, testing::ValuesIn(AvailableInstructionSets()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace attend
