// Whole models on packed batches against the same on padded ones.
#include <gtest/gtest.h>

#include "attend/nn/transformer.h"
#include "nn/test_models.h"

namespace attend::nn {
namespace {

using Tensors = std::vector<torch::Tensor>;

TEST(PackedModelTest, EqualsThePaddedOne) {
  for (const auto& [name, config] : SmallModels()) {
    if (!config.decoder) continue;
    Transformer model(config, Dropout{0, 0, 0, 0});
    model->to(torch::kFloat64);
    const torch::Tensor source = SmallIds(9, 1), target = SmallIds(8, 2);
    const auto gradients = [&](const torch::Tensor& hidden_RD) {
      torch::manual_seed(8);
      const torch::Tensor weights = torch::randn(hidden_RD.sizes(), torch::kFloat64);
      return torch::autograd::grad({(hidden_RD * weights).sum()}, model->parameters(),
                                   /*grad_outputs=*/{}, /*retain_graph=*/false,
                                   /*create_graph=*/false, /*allow_unused=*/true);
    };
    const torch::Tensor padded = model->Hidden(source, target).index({target != 0});
    const torch::Tensor packed = model->PackedHidden(PackSentences(source, 0, source.size(0)),
                                                     PackSentences(target, 0, target.size(0)));
    ASSERT_LT((padded - packed).abs().max().item<double>(), 1e-12) << name;
    const Tensors expected = gradients(padded), found = gradients(packed);
    for (size_t i = 0; i < found.size(); ++i) {
      if (!expected[i].defined()) continue;
      EXPECT_LT((found[i] - expected[i]).norm().item<double>(),
                1e-11 * (1 + expected[i].norm().item<double>()))
          << name << " " << model->named_parameters()[i].key();
    }
  }
}

TEST(PackedModelTest, DropoutDoesNotDependOnHowABatchIsCut) {
  Transformer model(SmallModel(), Dropout{0.2, 0.3, 0.1, 0.4});
  model->to(torch::kFloat64);
  const torch::Tensor source = SmallIds(9, 1), target = SmallIds(8, 2);
  const int64_t sentences = source.size(0), half = 1;
  const PackedIds all_source = PackSentences(source, 0, sentences),
                  all_target = PackSentences(target, 0, sentences);
  const torch::Tensor whole = model->PackedHidden(all_source, all_target, DropoutKey{11, 0, 0});
  const DropoutKey later{11, all_source.offsets_B1[half].item<int64_t>(),
                         all_target.offsets_B1[half].item<int64_t>()};
  const torch::Tensor parts =
      torch::cat({model->PackedHidden(PackSentences(source, 0, half),
                                      PackSentences(target, 0, half), DropoutKey{11, 0, 0}),
                  model->PackedHidden(PackSentences(source, half, sentences),
                                      PackSentences(target, half, sentences), later)});
  EXPECT_LT((whole - parts).abs().max().item<double>(), 1e-12);
  const torch::Tensor other = model->PackedHidden(all_source, all_target, DropoutKey{12, 0, 0});
  EXPECT_GT((whole - other).abs().max().item<double>(), 1e-2);
  EXPECT_TRUE(
      torch::equal(whole, model->PackedHidden(all_source, all_target, DropoutKey{11, 0, 0})));
  model->eval();
  EXPECT_TRUE(torch::equal(model->PackedHidden(all_source, all_target, DropoutKey{11, 0, 0}),
                           model->PackedHidden(all_source, all_target)));
}

}  // namespace
}  // namespace attend::nn
