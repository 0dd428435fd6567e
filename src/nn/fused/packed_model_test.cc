// Whole models on packed batches against the same on padded ones.
#include <gtest/gtest.h>

#include "attend/nn/loss.h"
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

// The second target of each sentence comes from its first two source tokens, the third from one.
LinkedKeys LinksIn(const torch::Tensor& weights_BTS, torch::Tensor* formula) {
  std::vector<int64_t> places;
  std::vector<double> weights;
  *formula = torch::zeros({}, torch::kFloat64);
  const int64_t targets = weights_BTS.size(1), sources = weights_BTS.size(2);
  for (int64_t b = 0; b < weights_BTS.size(0); ++b) {
    for (const auto& [t, s, weight] : {std::tuple{1, 0, 0.5}, {1, 1, 0.5}, {2, 1, 1.0}}) {
      places.push_back((b * targets + t) * sources + s);
      weights.push_back(weight);
      *formula = *formula - weight * weights_BTS[b][t][s].log();
    }
  }
  return {torch::tensor(places), torch::tensor(weights)};
}

// Guided alignment over packed rows: weights are those of the padded model's trace; the loss is
// what its formula says, and its gradients are those of the padded weights.
TEST(PackedModelTest, AlignmentLossIsThatOfThePaddedModel) {
  for (const auto& [name, config] : SmallModels()) {
    if (!config.decoder || !config.encoder) continue;
    Transformer model(config, Dropout{0, 0, 0, 0});
    model->to(torch::kFloat64);
    const torch::Tensor source = SmallIds(9, 1), target = SmallIds(8, 2);
    const int64_t sentences = source.size(0), layer = config.decoder->layers - 1;
    Trace trace;
    model->Hidden(source, target, &trace);
    const torch::Tensor padded_BHTS = trace.decoder.layers[layer].cross_weights_BHTS;
    CrossWeights kept{layer, {}};
    model->PackedHidden(PackSentences(source, 0, sentences), PackSentences(target, 0, sentences),
                        {}, &kept);
    ASSERT_EQ(kept.weights_BHTS.sizes(), padded_BHTS.sizes()) << name;
    const torch::Tensor real_BT = (target != 0).unsqueeze(1).unsqueeze(3);
    const torch::Tensor off = (kept.weights_BHTS - padded_BHTS).abs() * real_BT;
    EXPECT_LT(off.max().item<double>(), 1e-12) << name;

    torch::Tensor formula;
    const LinkedKeys links = LinksIn(padded_BHTS.mean(1), &formula);
    const torch::Tensor loss = AlignmentLoss(kept.weights_BHTS, links);
    EXPECT_NEAR(loss.item<double>(), formula.item<double>(), 1e-6) << name;
    const auto gradients = [&](const torch::Tensor& of) {
      return torch::autograd::grad({of}, model->parameters(), {}, false, false, true);
    };
    const Tensors expected = gradients(formula), found = gradients(loss);
    int64_t learning = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].defined(), expected[i].defined());
      if (!found[i].defined()) continue;
      ++learning;
      EXPECT_LT((found[i] - expected[i]).norm().item<double>(),
                1e-6 * (1 + expected[i].norm().item<double>()))
          << name << " " << model->named_parameters()[i].key();
    }
    EXPECT_GT(learning, 4) << name;
  }
}

// A model whose weights are the sums has the gradient dW, and the chain rule gives dA = scale B^T
// dW and dB = scale dW A^T.
TEST(PackedModelTest, AdaptersHaveTheGradientsOfTheChainRule) {
  for (const auto& [name, config] : SmallModels()) {
    if (!config.decoder) continue;
    Transformer adapted(config, Dropout{0, 0, 0, 0}, 7), whole(config, Dropout{0, 0, 0, 0}, 7);
    const AdapterShape shape{.rank = 3, .alpha = 6, .matrices = AdaptedMatrices::kAll};
    AddAdapters(adapted.ptr().get(), shape, 5, /*train_head=*/false);
    adapted->to(torch::kFloat64);
    whole->to(torch::kFloat64);
    std::vector<std::string> names;
    Tensors factors, weights;
    for (const auto& part : adapted->named_modules()) {
      auto* layer = part.value()->as<LinearLayerImpl>();
      if (layer == nullptr) continue;
      ASSERT_TRUE(layer->adapted()) << part.key();
      const torch::NoGradGuard no_grad;
      layer->adapter_b.normal_(0, 0.1);
      torch::Tensor weight = whole->named_parameters()[part.key() + ".weight"];
      weight.add_(shape.scale() * torch::mm(layer->adapter_b, layer->adapter_a));
      names.push_back(part.key());
      weights.push_back(weight);
      factors.insert(factors.end(), {layer->adapter_a, layer->adapter_b});
    }
    int64_t learning = 0;
    for (const torch::Tensor& each : adapted->parameters()) learning += each.requires_grad();
    EXPECT_EQ(learning, std::ssize(factors)) << name;
    const PackedIds source = PackSentences(SmallIds(9, 1), 0, SmallIds(9, 1).size(0)),
                    target = PackSentences(SmallIds(8, 2), 0, SmallIds(8, 2).size(0));
    const auto gradients = [&](Transformer& model, const Tensors& inputs) {
      const torch::Tensor hidden_RD = model->PackedHidden(source, target);
      torch::manual_seed(8);
      return torch::autograd::grad({(hidden_RD * torch::randn_like(hidden_RD)).sum()}, inputs);
    };
    const Tensors found = gradients(adapted, factors), of_weights = gradients(whole, weights);
    for (size_t i = 0; i < names.size(); ++i) {
      const torch::Tensor &a = factors[2 * i], &b = factors[2 * i + 1];
      const torch::Tensor expected_a = shape.scale() * torch::mm(b.t(), of_weights[i]),
                          expected_b = shape.scale() * torch::mm(of_weights[i], a.t());
      for (const auto& [is, wanted] :
           {std::pair(found[2 * i], expected_a), std::pair(found[2 * i + 1], expected_b)}) {
        EXPECT_LT((is - wanted).norm().item<double>(), 1e-11 * (1 + wanted.norm().item<double>()))
            << name << " " << names[i];
      }
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
