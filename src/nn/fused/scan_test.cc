#include "nn/fused/scan.h"

#include <gtest/gtest.h>

#include <array>

namespace attend::nn {
namespace {

// Sentences of 3, 1 and 4 tokens.
constexpr std::array<int64_t, 4> kOffsets = {0, 3, 4, 8};

torch::Tensor PlainOfPacked(const torch::Tensor& keep_RD, const torch::Tensor& input_RD) {
  std::vector<torch::Tensor> parts;
  for (size_t b = 0; b + 1 < kOffsets.size(); ++b) {
    const auto sentence = [&](const torch::Tensor& x_RD) {
      return x_RD.slice(0, kOffsets[b], kOffsets[b + 1]).unsqueeze(0);
    };
    parts.push_back(PlainScan(sentence(keep_RD), sentence(input_RD)).squeeze(0));
  }
  return torch::cat(parts);
}

TEST(ScanTest, EqualsThePlainVersion) {
  torch::manual_seed(5);
  const torch::Tensor offsets =
      torch::tensor(std::vector<int64_t>(kOffsets.begin(), kOffsets.end()));
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    for (const int64_t width : {1, 7, 16}) {
      const torch::Tensor keep = torch::rand({8, width}, type).requires_grad_(),
                          input = torch::randn({8, width}, type).requires_grad_(),
                          weight = torch::randn({8, width}, type);
      const torch::Tensor found = Scan(keep, input, offsets), plain = PlainOfPacked(keep, input);
      EXPECT_TRUE(torch::allclose(found, plain));
      const auto gradients = [&](const torch::Tensor& y) {
        return torch::autograd::grad({(y * weight).sum()}, {keep, input});
      };
      const auto of_found = gradients(found), of_plain = gradients(plain);
      for (size_t i = 0; i < of_found.size(); ++i)
        EXPECT_TRUE(torch::allclose(of_found[i], of_plain[i], 1e-5, 1e-6));
    }
  }
}

// As of a GPU's tensors, which the kernels can't read either.
TEST(ScanTest, TypesWithoutKernelsTakeThePlainVersion) {
  torch::manual_seed(6);
  const torch::Tensor offsets =
      torch::tensor(std::vector<int64_t>(kOffsets.begin(), kOffsets.end()));
  const torch::Tensor keep = torch::rand({8, 5}, torch::kBFloat16).requires_grad_(),
                      input = torch::randn({8, 5}, torch::kBFloat16).requires_grad_();
  const torch::Tensor found = Scan(keep, input, offsets), plain = PlainOfPacked(keep, input);
  EXPECT_TRUE(torch::equal(found, plain));
  const auto of_found = torch::autograd::grad({found.sum()}, {keep, input}),
             of_plain = torch::autograd::grad({plain.sum()}, {keep, input});
  for (size_t i = 0; i < of_found.size(); ++i)
    EXPECT_TRUE(torch::allclose(of_found[i], of_plain[i], 1e-2, 1e-2)) << i;
}

TEST(ScanTest, IsTheFormula) {
  const torch::Tensor keep = torch::full({4, 1}, 0.5), input = torch::ones({4, 1});
  const torch::Tensor found = Scan(keep, input, torch::tensor({0, 3, 4}));
  EXPECT_TRUE(torch::allclose(found.flatten(), torch::tensor({1.0f, 1.5f, 1.75f, 1.0f})));
}

}  // namespace
}  // namespace attend::nn
