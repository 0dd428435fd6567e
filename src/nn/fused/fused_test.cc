// The fused functions against their plain versions: values and gradients in f64 to rounding, in f32
// against f64, at widths around every vector's, and the numbers that dropout draws.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "attend/error.h"
#include "kernels/inference/dispatch.h"
#include "nn/fused/embedding.h"
#include "nn/fused/fused_expectations.h"
#include "nn/fused/fused_function.h"
#include "nn/fused/label_smoothed_cross_entropy.h"
#include "nn/fused/packed_attention.h"
#include "nn/fused/residual_norm.h"

namespace attend::nn {
namespace {

// All tests run again with the sets below the machine's best (CMakeLists.txt).
TEST(TrainKernelsTest, AreOfTheEnginesSet) {
  const std::string set = SelectKernels().name;
  if (const char* forced = std::getenv("ATTEND_ISA")) {
    EXPECT_EQ(set, forced);
  }
  const std::string found = SelectTrainKernels<float>().name;
  if (set == "avx512_vnni") {
    EXPECT_EQ(found, __builtin_cpu_supports("avx512bf16") ? "avx512_bf16" : "avx512");
  } else {
    EXPECT_EQ(found, set);
  }
}

// Philox4x32-10 written out, as its authors give it.
std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> x, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53} * x[0], second = uint64_t{0xCD9E8D57} * x[2];
    x = {static_cast<uint32_t>(second >> 32) ^ x[1] ^ key0, static_cast<uint32_t>(second),
         static_cast<uint32_t>(first >> 32) ^ x[3] ^ key1, static_cast<uint32_t>(first)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return x;
}

TEST(DropoutNumbersTest, ArePhiloxOfSeedSiteRowAndColumn) {
  // The known answers of Random123's kat_vectors.
  EXPECT_EQ(Philox({0, 0, 0, 0}, 0, 0),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  constexpr int64_t kRows = 3, kWidth = 300;
  const torch::Tensor wide = DropoutMask(kSome, kRows, kWidth, torch::kFloat64);
  const int32_t dropped = static_cast<int32_t>(std::lround(kSome.rate * 65536));
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t c = 0; c < kWidth; ++c) {
      const auto counter = static_cast<uint32_t>(c / 128 * 16 + c % 16);
      const auto value = static_cast<int>(c % 128 / 16);
      const uint32_t word =
          Philox({counter, static_cast<uint32_t>(kSome.first_row + r), 0, kSome.site}, 0x9abcdef0,
                 0x12345678)[value / 2];
      const auto number = static_cast<int16_t>(value % 2 == 0 ? word : word >> 16);
      const double expected = number + 32768 >= dropped ? 65536.0 / (65536 - dropped) : 0;
      ASSERT_DOUBLE_EQ(wide[r][c].item<double>(), expected) << r << " " << c;
    }
  }
  // The same on this machine's set of instructions, at every width.
  for (int64_t width = 1; width <= 150; ++width) {
    const torch::Tensor mask = DropoutMask(kSome, kRows, width, torch::kFloat32);
    ASSERT_TRUE(torch::equal(mask, wide.slice(1, 0, width).to(torch::kFloat32))) << width;
  }
}

TEST(DropoutNumbersTest, DropTheirShareAndAreIndependent) {
  constexpr int64_t kRows = 2000, kWidth = 128;
  const auto kept = [&](DropoutSite site) {
    return DropoutMask(site, kRows, kWidth, torch::kFloat32).gt(0).to(torch::kFloat64);
  };
  for (const double rate : {0.1, 0.3, 0.5}) {
    const DropoutSite site{rate, 17, 0, 0};
    const double deviation = std::sqrt(rate * (1 - rate) / (kRows * kWidth));
    const torch::Tensor first = kept(site);
    EXPECT_NEAR(first.mean().item<double>(), 1 - rate, 5 * deviation);
    EXPECT_NEAR(DropoutMask(site, kRows, kWidth, torch::kFloat32).mean().item<double>(), 1,
                5 * deviation / (1 - rate));
    // Columns and rows each drop their share.
    const double column = std::sqrt(rate * (1 - rate) / kRows);
    EXPECT_LT((first.mean(0) - (1 - rate)).abs().max().item<double>(), 5 * column);
    DropoutSite other_site = site, other_seed = site, other_row = site;
    other_site.site = 1;
    other_seed.seed = 18;
    other_row.first_row = 1;
    for (const torch::Tensor& second :
         {kept(other_site), kept(other_seed), kept(other_row), first.roll(1, 1)}) {
      const double together = ((first - (1 - rate)) * (second - (1 - rate))).mean().item<double>();
      EXPECT_NEAR(together, 0, 5 * rate * (1 - rate) / std::sqrt(kRows * kWidth));
    }
    // A row is the same wherever the tensor begins.
    EXPECT_TRUE(torch::equal(kept(other_row).slice(0, 0, -1), first.slice(0, 1)));
  }
}

TEST(ResidualNormTest, EqualsThePlainVersion) {
  torch::manual_seed(1);
  for (const int64_t width : {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 127, 128, 129, 300}) {
    for (const int64_t rows : {0, 1, 5}) {
      for (const DropoutSite& site : {kNone, kSome}) {
        const Tensors inputs{Random({rows, width}), Random({rows, width}), Random({width}),
                             Random({width})};
        const auto with = [&](auto function) {
          return [&, function](const Tensors& x) {
            NormImpl norm(width, 1e-2);
            norm.weight = x[2];
            norm.bias = x[3];
            return function(x[0], x[1], site, norm);
          };
        };
        const std::string what = "width " + std::to_string(width) + ", rows " +
                                 std::to_string(rows) + ", rate " + std::to_string(site.rate);
        ExpectEqual(with(ResidualNorm), with(PlainResidualNorm), inputs, what);
      }
    }
  }
  // Several blocks of rows.
  const Tensors inputs{Random({1100, 24}), Random({1100, 24}), Random({24}), Random({24})};
  const auto with = [&](auto function) {
    return [&, function](const Tensors& x) {
      NormImpl norm(24, 1e-5);
      norm.weight = x[2];
      norm.bias = x[3];
      return function(x[0], x[1], kSome, norm);
    };
  };
  ExpectEqual(with(ResidualNorm), with(PlainResidualNorm), inputs, "blocks");
}

TEST(ResidualNormTest, AddsWhatIsDropped) {
  torch::manual_seed(2);
  for (const int64_t width : {1, 8, 13, 130}) {
    const Tensors inputs{Random({2, 3, width}), Random({2, 3, width})};
    ExpectEqual([](const Tensors& x) { return AddDropped(x[0], x[1], kSome); },
                [](const Tensors& x) { return PlainAddDropped(x[0], x[1], kSome); }, inputs, "sum");
    ExpectEqual([](const Tensors& x) { return AddDropped({}, x[0], kSome); },
                [](const Tensors& x) { return PlainAddDropped({}, x[0], kSome); }, {inputs[0]},
                "alone");
  }
  const torch::Tensor x = torch::randn({4, 8});
  EXPECT_TRUE(AddDropped({}, x, kNone).is_same(x));
}

TEST(EmbeddingTest, TakesIdsAndPlacesWithStrides) {
  const torch::Tensor table = torch::randn({9, 4}), positions = torch::randn({3, 4});
  const torch::Tensor ids =
      torch::tensor({8, 0, 1, 0, 4, 0}, torch::kInt64).view({3, 2}).select(1, 0);
  const torch::Tensor places = torch::tensor({2}, torch::kInt64).expand({3});
  const EmbeddingInputs inputs{table, positions, ids, places, 1};
  EXPECT_TRUE(torch::allclose(FusedEmbedding(inputs, kNone), PlainEmbedding(inputs, kNone)));
}

TEST(EmbeddingTest, EqualsThePlainVersion) {
  torch::manual_seed(4);
  const torch::Tensor ids = torch::tensor({3, 0, -1, 9, 4, 3}),  // -1: a vector of zeros
      places = torch::tensor({0, 1, 2, 0, 1, 2});
  for (const int64_t width : {1, 8, 19, 130}) {
    for (const DropoutSite& site : {kNone, kSome}) {
      const Tensors inputs{Random({10, width}), Random({3, width})};
      const auto with = [&](auto function, bool positions) {
        return [&, function, positions](const Tensors& x) {
          return function({x[0], positions ? x[1] : torch::Tensor(), ids, places, 2.5}, site);
        };
      };
      ExpectEqual(with(FusedEmbedding, true), with(PlainEmbedding, true), inputs, "positions");
      ExpectEqual(with(FusedEmbedding, false), with(PlainEmbedding, false), {inputs[0]}, "alone");
    }
  }
  const torch::Tensor table = torch::randn({10, 4});
  EXPECT_THROW(FusedEmbedding({table.slice(0, 0, 3), {}, ids, places, 1}, kNone), Error);
  EXPECT_THROW(FusedEmbedding({table, torch::randn({2, 4}), ids, places, 1}, kNone), Error);
  const torch::Tensor positions = torch::randn({3, 4});
  EXPECT_THROW(FusedEmbedding({table, positions, ids, places.slice(0, 1), 1}, kNone), Error);
}

TEST(FusedFunctionsTest, RefuseASecondDerivative) {
  const torch::Tensor x = torch::randn({4, 6}).requires_grad_(), ids = torch::arange(4),
                      targets = torch::arange(4), offsets = Offsets({1, 3});
  const auto mask = AttentionMask::Packed(offsets, offsets, false);
  NormImpl norm(6, 1e-5);
  const std::vector<std::pair<const char*, std::function<torch::Tensor()>>> functions = {
      {"residual", [&] { return AddDropped(x, x, kSome); }},
      {"norm", [&] { return ResidualNorm(x, x, kNone, norm); }},
      {"attention", [&] { return PackedAttention(x, {}, {1, 2, 2}, mask, kNone); }},
      {"embedding", [&] { return FusedEmbedding({x, {}, ids, ids, 1}, kNone); }},
      {"loss", [&] { return FusedLabelSmoothedCrossEntropy(x, targets, {1, 0}).loss; }},
      {"projected",
       [&] { return ProjectedLabelSmoothedCrossEntropy(x, x, {}, targets, {1, 0}).loss; }}};
  for (const auto& [name, function] : functions) {
    const torch::Tensor sum = function().sum();
    EXPECT_NO_THROW(torch::autograd::grad({sum}, {x}, {}, /*retain_graph=*/true)) << name;
    EXPECT_THROW(torch::autograd::grad({sum}, {x}, {}, true, /*create_graph=*/true), Error) << name;
  }
}

TEST(CrossEntropyKernelTest, RefusesAnotherNumberOfTargetsThanRows) {
  const torch::Tensor hidden = torch::randn({6, 4}), weight = torch::randn({9, 4});
  for (const int64_t count : {0, 5, 7, 12}) {
    const torch::Tensor targets = torch::zeros({count}, torch::kInt64);
    EXPECT_THROW(ProjectedLabelSmoothedCrossEntropy(hidden, weight, {}, targets, {1, 0}), Error);
    EXPECT_THROW(FusedLabelSmoothedCrossEntropy(hidden, targets, {1, 0}), Error);
    EXPECT_THROW(PlainLabelSmoothedCrossEntropy(hidden, targets, {1, 0}), Error);
  }
}

TEST(CrossEntropyKernelTest, TakesABiasForEachClassWhereverItLies) {
  const torch::Tensor hidden = torch::randn({6, 4}), weight = torch::randn({9, 4}),
                      targets = torch::arange(6), wide = torch::randn({9, 2});
  const auto loss = [&](const torch::Tensor& bias) {
    return ProjectedLabelSmoothedCrossEntropy(hidden, weight, bias, targets, {1, 0}).loss;
  };
  const torch::Tensor strided = wide.select(1, 0).requires_grad_(),
                      dense = strided.detach().clone().requires_grad_();
  EXPECT_TRUE(torch::equal(loss(strided), loss(dense)));
  EXPECT_TRUE(torch::equal(torch::autograd::grad({loss(strided)}, {strided})[0],
                           torch::autograd::grad({loss(dense)}, {dense})[0]));
  for (const int64_t count : {1, 8, 10}) EXPECT_THROW(loss(torch::zeros({count})), Error) << count;
}

TEST(CrossEntropyKernelTest, TwoPassesEqualThePlainVersionAtEveryTail) {
  torch::manual_seed(9);
  for (const int64_t classes : {1, 2, 7, 8, 9, 16, 17, 33, 1003}) {
    const torch::Tensor targets = torch::arange(65).remainder(classes);  // 130 rows: chunks
    const SmoothingWeights weights{0.9, 0.1 / static_cast<double>(classes)};
    for (const bool bias : {false, true}) {
      const auto optional = [&](const Tensors& x) { return bias ? x[2] : torch::Tensor(); };
      ExpectEqual(
          [&](const Tensors& x) {
            return ProjectedTwoPassCrossEntropy(x[0], x[1], optional(x), targets, weights, 1.25)
                .loss;
          },
          [&](const Tensors& x) {
            return PlainTwoPassCrossEntropy(torch::linear(x[0], x[1], optional(x)), targets,
                                            weights, 1.25)
                .loss;
          },
          bias ? Tensors{Random({65, 2, 6}), Random({classes, 6}), Random({classes})}
               : Tensors{Random({65, 2, 6}), Random({classes, 6})},
          "classes " + std::to_string(classes));
    }
  }
}

// By LibTorch's own divergence; two equal passes are one.
TEST(CrossEntropyKernelTest, TwoPassesAreTheirDefinition) {
  torch::manual_seed(10);
  const torch::Tensor logits = Random({4, 2, 9}), targets = torch::arange(4);
  const SmoothingWeights weights{0.8, 0.2 / 9};
  const torch::Tensor p = torch::log_softmax(logits.select(1, 0), 1),
                      q = torch::log_softmax(logits.select(1, 1), 1);
  const auto divergence = [](const torch::Tensor& from, const torch::Tensor& to) {
    return torch::kl_div(to, from, at::Reduction::Sum, /*log_target=*/true).item<double>();
  };
  const auto loss = [&](int64_t pass) {
    return PlainLabelSmoothedCrossEntropy(logits.select(1, pass), targets, weights)
        .loss.item<double>();
  };
  const LossAndNll found = PlainTwoPassCrossEntropy(logits, targets, weights, 1.5);
  EXPECT_NEAR(found.loss.item<double>(),
              (loss(0) + loss(1)) / 2 + 1.5 * (divergence(p, q) + divergence(q, p)), 1e-12);
  const torch::Tensor same = logits.select(1, 0).unsqueeze(1).expand({4, 2, 9});
  EXPECT_NEAR(PlainTwoPassCrossEntropy(same, targets, weights, 1.5).loss.item<double>(), loss(0),
              1e-12);
}

// What a GPU computes, on a CPU.
TEST(CrossEntropyKernelTest, WithoutKernelsTheStepIsThePlainVersionAndItsGradient) {
  torch::manual_seed(7);
  const SmoothingWeights weights{0.8, 0.2 / 9};
  const torch::Tensor targets = torch::arange(3);
  for (const std::optional<double> divergence : {std::optional<double>(), std::optional(0.7)}) {
    for (const bool with_bias : {false, true}) {
      const LossOptions options{weights, divergence};
      const torch::Tensor logits = Random({3 * options.passes(), 9}).requires_grad_();
      const torch::Tensor bias = Random({9}).requires_grad_();
      const torch::Tensor sums = with_bias ? logits + bias : logits + 0 * bias;
      const LossAndNll expected =
          divergence ? PlainTwoPassCrossEntropy(sums.view({3, 2, 9}), targets, weights, *divergence)
                     : PlainLabelSmoothedCrossEntropy(sums, targets, weights);
      expected.loss.backward();
      const torch::NoGradGuard no_grad;
      const torch::Tensor found = torch::ones({2}, torch::kFloat64),
                          bias_gradient = torch::ones({9}, torch::kFloat64);
      const torch::Tensor step =
          AddLossByTorch({logits.detach().clone(), with_bias ? bias : torch::Tensor(), targets,
                          with_bias ? bias_gradient : torch::Tensor(), found},
                         options);
      EXPECT_NEAR(found[0].item<double>(), 1 + expected.loss.item<double>(), 1e-12);
      EXPECT_NEAR(found[1].item<double>(), 1 + expected.nll.item<double>(), 1e-12);
      EXPECT_TRUE(torch::allclose(step, logits.grad(), 1e-12, 1e-14));
      EXPECT_TRUE(torch::allclose(bias_gradient, 1 + bias.grad(), 1e-12, 1e-14));
    }
  }
}

// As a GPU has them; what is summed stays f32.
TEST(CrossEntropyKernelTest, WithoutKernelsLogitsInBf16HaveTheirGradientInBf16) {
  torch::manual_seed(8);
  const SmoothingWeights weights{0.8, 0.2 / 9};
  const torch::Tensor logits = torch::randn({30, 9}).to(torch::kBFloat16),
                      targets = torch::arange(30).remainder(9);
  for (const bool with_bias : {false, true}) {
    const torch::Tensor bias = with_bias ? torch::randn({9}) : torch::zeros({9});
    const torch::Tensor sums = (logits.to(torch::kFloat32) + bias).requires_grad_();
    const LossAndNll expected = PlainLabelSmoothedCrossEntropy(sums, targets, weights);
    expected.loss.backward();
    const torch::Tensor found = torch::zeros({2}, torch::kFloat64),
                        bias_gradient = torch::zeros({9});
    const torch::Tensor step = AddLossByTorch({logits, with_bias ? bias : torch::Tensor(), targets,
                                               with_bias ? bias_gradient : torch::Tensor(), found},
                                              {weights, {}});
    EXPECT_EQ(step.scalar_type(), torch::kBFloat16);
    EXPECT_NEAR(found[0].item<double>(), expected.loss.item<double>(), 1e-4);
    EXPECT_TRUE(torch::allclose(step.to(torch::kFloat32), sums.grad(), 0x1p-8, 1e-6));
    if (with_bias) {
      EXPECT_TRUE(torch::allclose(bias_gradient, sums.grad().sum(0), 1e-5, 1e-5));
    }
  }
}

TEST(CrossEntropyKernelTest, ABiasLearnsOverFrozenWeights) {
  torch::manual_seed(6);
  const torch::Tensor hidden = torch::randn({6, 4}), weight = torch::randn({9, 4});
  const torch::Tensor targets = torch::arange(6);
  const SmoothingWeights weights{0.9, 0.1 / 9};
  torch::Tensor fused = torch::randn({9});
  torch::Tensor plain = fused.clone();
  fused.requires_grad_(), plain.requires_grad_();
  ProjectedLabelSmoothedCrossEntropy(hidden, weight, fused, targets, weights).loss.backward();
  PlainLabelSmoothedCrossEntropy(torch::linear(hidden, weight, plain), targets, weights)
      .loss.backward();
  EXPECT_TRUE(torch::allclose(fused.grad(), plain.grad(), 1e-4, 1e-5));
}

TEST(CrossEntropyKernelTest, EqualsThePlainVersionAtEveryTail) {
  torch::manual_seed(5);
  for (const int64_t classes : {1, 2, 7, 8, 9, 16, 17, 33, 1003}) {
    const torch::Tensor targets = torch::arange(130).remainder(classes);
    const SmoothingWeights weights{0.9, 0.1 / static_cast<double>(classes)};
    for (const bool bias : {false, true}) {
      ExpectEqual(
          [&](const Tensors& x) {
            return ProjectedLabelSmoothedCrossEntropy(x[0], x[1], bias ? x[2] : torch::Tensor(),
                                                      targets, weights)
                .loss;
          },
          [&](const Tensors& x) {
            return PlainLabelSmoothedCrossEntropy(
                       torch::linear(x[0], x[1], bias ? x[2] : torch::Tensor()), targets, weights)
                .loss;
          },
          bias ? Tensors{Random({130, 6}), Random({classes, 6}), Random({classes})}
               : Tensors{Random({130, 6}), Random({classes, 6})},
          "classes " + std::to_string(classes));
    }
  }
}

}  // namespace
}  // namespace attend::nn
