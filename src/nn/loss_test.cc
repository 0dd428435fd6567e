#include "attend/nn/loss.h"

#include <gtest/gtest.h>
#include <torch/nn/functional/loss.h>

#include <functional>
#include <memory>

#include "attend/error.h"
#include "nn/fused/label_smoothed_cross_entropy.h"
#include "nn/measure/tensor_bytes.h"

namespace attend::nn {
namespace {

const auto kDouble = torch::TensorOptions().dtype(torch::kFloat64);

// One problem with 11 classes: hidden states, projection and bias in f64, targets with padding (0).
struct Problem {
  torch::Tensor hidden_RD, weight_VD, bias_V, targets_R;

  explicit Problem(int64_t rows = 9, int64_t classes = 11,
                   torch::ScalarType dtype = torch::kFloat64) {
    torch::manual_seed(3);
    const auto options = kDouble.dtype(dtype);
    hidden_RD = torch::randn({rows, 5}, options).requires_grad_();
    weight_VD = torch::randn({classes, 5}, options).requires_grad_();
    bias_V = torch::randn({classes}, options).requires_grad_();
    targets_R = torch::arange(rows).remainder(classes);
  }
  Problem To(torch::ScalarType dtype) const {
    Problem other = *this;
    for (torch::Tensor* tensor : {&other.hidden_RD, &other.weight_VD, &other.bias_V}) {
      *tensor = tensor->detach().to(dtype).requires_grad_();
    }
    return other;
  }
  torch::Tensor Logits() const { return torch::linear(hidden_RD, weight_VD, bias_V); }
  std::vector<torch::Tensor> Parameters() const { return {hidden_RD, weight_VD, bias_V}; }
};

// The smoothed distribution q written out, class by class, and -sum q log p.
double ByDefinition(const torch::Tensor& logits_RV, const torch::Tensor& targets_R,
                    double smoothing, bool all_classes) {
  const int64_t classes = logits_RV.size(1);
  double sum = 0;
  for (int64_t r = 0; r < logits_RV.size(0); ++r) {
    const int64_t target = targets_R[r].item<int64_t>();
    if (target == 0) continue;
    double total = 0;
    for (int64_t v = 0; v < classes; ++v) total += std::exp(logits_RV[r][v].item<double>());
    for (int64_t v = 0; v < classes; ++v) {
      double q = all_classes ? smoothing / classes : smoothing / (classes - 1);
      if (v == target) q = all_classes ? 1 - smoothing + smoothing / classes : 1 - smoothing;
      sum -= q * (logits_RV[r][v].item<double>() - std::log(total));
    }
  }
  return sum;
}

TEST(LabelSmoothingLossTest, BothConventionsAreTheirDefinition) {
  const Problem problem;
  const torch::Tensor logits = problem.Logits().detach();
  for (const double smoothing : {0.0, 0.1, 0.6}) {
    for (const bool all_classes : {true, false}) {
      LabelSmoothingLoss loss(
          smoothing, 0, all_classes ? SmoothingMass::kAllClasses : SmoothingMass::kWrongClasses);
      const double expected = ByDefinition(logits, problem.targets_R, smoothing, all_classes);
      const double nll = ByDefinition(logits, problem.targets_R, 0, true);
      for (const LossSums& sums :
           {loss(logits, problem.targets_R), loss->FromHidden(problem.hidden_RD, problem.weight_VD,
                                                              problem.bias_V, problem.targets_R)}) {
        EXPECT_NEAR(sums.loss.item<double>(), expected, 1e-10 * expected);
        EXPECT_NEAR(sums.nll.item<double>(), nll, 1e-10 * nll);
        EXPECT_EQ(sums.tokens, 8);  // 9 targets, one is padding
      }
    }
  }
  EXPECT_THROW(LabelSmoothingLoss(1.0), Error);
}

TEST(LabelSmoothingLossTest, TwoPassesAddADivergenceThatEqualOnesLack) {
  const Problem problem;
  LabelSmoothingLoss loss(0.1, 0);
  const auto once =
      loss->FromHidden(problem.hidden_RD, problem.weight_VD, problem.bias_V, problem.targets_R);
  const auto twice = [&](const torch::Tensor& second_RD, double divergence) {
    return loss->FromTwoPasses({problem.hidden_RD, second_RD}, problem.weight_VD, problem.bias_V,
                               problem.targets_R, divergence);
  };
  const LossSums same = twice(problem.hidden_RD, 5);
  EXPECT_EQ(same.tokens, 8);
  EXPECT_NEAR(same.loss.item<double>(), once.loss.item<double>(), 1e-10);
  EXPECT_NEAR(same.nll.item<double>(), once.nll.item<double>(), 1e-10);
  const torch::Tensor other = problem.hidden_RD.detach() * 1.1;
  const double without = twice(other, 0).loss.item<double>(),
               with = twice(other, 4).loss.item<double>();
  const torch::Tensor counts = problem.targets_R.ne(0).nonzero().squeeze(1);
  const auto log_probs = [&](const torch::Tensor& hidden) {
    return torch::log_softmax(torch::linear(hidden, problem.weight_VD, problem.bias_V), 1)
        .index_select(0, counts);
  };
  const torch::Tensor p = log_probs(problem.hidden_RD), q = log_probs(other);
  EXPECT_NEAR(with - without, ((p.exp() - q.exp()) * (p - q)).sum().item<double>(), 1e-10);
  EXPECT_GT(with, without);
}

// Against PyTorch's cross-entropy and divergence, with the student's gradients.
TEST(LabelSmoothingLossTest, OfATeacherIsTorchsDivergence) {
  namespace functional = torch::nn::functional;
  const Problem problem(300, 40);  // several chunks of rows
  torch::manual_seed(9);
  const torch::Tensor taught_RD = torch::randn({300, 7}, kDouble),  // of another width
      weight_VD = torch::randn({40, 7}, kDouble), bias_V = torch::randn({40}, kDouble),
                      counts = problem.targets_R.ne(0).nonzero().squeeze(1);
  for (const auto& [share, temperature] :
       {std::pair{0.5, 1.0}, {0.3, 2.5}, {1.0, 1.0}, {0.0, 2.0}}) {
    const torch::Tensor cross_entropy = functional::cross_entropy(
        problem.Logits(), problem.targets_R,
        functional::CrossEntropyFuncOptions().ignore_index(0).label_smoothing(0.1).reduction(
            torch::kSum));
    const auto softened = [&](const torch::Tensor& logits_RV) {
      return torch::log_softmax(logits_RV.index_select(0, counts) / temperature, 1);
    };
    const torch::Tensor divergence = functional::kl_div(
        softened(problem.Logits()), softened(torch::linear(taught_RD, weight_VD, bias_V)),
        functional::KLDivFuncOptions().reduction(torch::kSum).log_target(true));
    const torch::Tensor expected =
        (1 - share) * cross_entropy + share * temperature * temperature * divergence;
    LabelSmoothingLoss loss(0.1, 0);
    const LossSums sums =
        loss->FromTeacher(problem.hidden_RD, problem.weight_VD, problem.bias_V, problem.targets_R,
                          {taught_RD, weight_VD, bias_V, share, temperature});
    const LossSums alone =
        loss->FromHidden(problem.hidden_RD, problem.weight_VD, problem.bias_V, problem.targets_R);
    EXPECT_NEAR(sums.loss.item<double>(), expected.item<double>(), 1e-9);
    EXPECT_NEAR(sums.nll.item<double>(), alone.nll.item<double>(), 1e-9);
    EXPECT_EQ(sums.tokens, alone.tokens);
    const auto found = torch::autograd::grad({sums.loss * 0.3}, problem.Parameters());
    const auto wanted = torch::autograd::grad({expected * 0.3}, problem.Parameters());
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_TRUE(torch::allclose(found[i], wanted[i], 1e-9, 1e-11)) << i;
  }
  LabelSmoothingLoss loss(0.1, 0);
  EXPECT_THROW(loss->FromTeacher(problem.hidden_RD, problem.weight_VD, problem.bias_V,
                                 problem.targets_R, {taught_RD, weight_VD.slice(0, 1), {}, 0.5, 1}),
               Error);
}

TEST(LabelSmoothingLossTest, AgreesWithTorch) {
  const Problem problem(40, 300);
  for (const double smoothing : {0.0, 0.1}) {
    const torch::Tensor expected =
        torch::nn::functional::cross_entropy(problem.Logits(), problem.targets_R,
                                             torch::nn::functional::CrossEntropyFuncOptions()
                                                 .ignore_index(0)
                                                 .label_smoothing(smoothing)
                                                 .reduction(torch::kSum));
    LabelSmoothingLoss loss(smoothing, 0);
    const LossSums sums =
        loss->FromHidden(problem.hidden_RD, problem.weight_VD, problem.bias_V, problem.targets_R);
    EXPECT_NEAR(sums.loss.item<double>(), expected.item<double>(), 1e-9);
    const auto found = torch::autograd::grad({sums.loss * 0.3}, problem.Parameters());
    const auto wanted = torch::autograd::grad({expected * 0.3}, problem.Parameters());
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_TRUE(torch::allclose(found[i], wanted[i], 1e-9, 1e-12)) << i;
  }
}

// Gradients by central differences in f64.
void CheckGradients(const std::function<torch::Tensor()>& loss,
                    const std::vector<torch::Tensor>& inputs) {
  const auto gradients = torch::autograd::grad({loss()}, inputs);
  constexpr double kStep = 1e-5;
  for (size_t i = 0; i < inputs.size(); ++i) {
    torch::NoGradGuard no_grad;
    torch::Tensor flat = inputs[i].view({-1});
    for (int64_t j = 0; j < flat.numel(); ++j) {
      const double value = flat[j].item<double>();
      flat[j] = value + kStep;
      const double above = loss().item<double>();
      flat[j] = value - kStep;
      const double below = loss().item<double>();
      flat[j] = value;
      EXPECT_NEAR(gradients[i].reshape({-1})[j].item<double>(), (above - below) / (2 * kStep), 1e-7)
          << i << " " << j;
    }
  }
}

// Figure 3 of Radford et al. 2021 by PyTorch's cross-entropy, with all gradients.
TEST(ContrastiveLossTest, IsTheMeanOfBothCrossEntropies) {
  torch::manual_seed(5);
  for (const double start : {std::log(1 / 0.07), std::log(150.0)}) {
    std::vector<torch::Tensor> ours, theirs;
    for (const auto& shape : {std::vector<int64_t>{6, 4}, {6, 4}})
      ours.push_back(torch::nn::functional::normalize(torch::randn(shape, kDouble)));
    ours.push_back(torch::full({1}, start, kDouble));
    for (torch::Tensor& tensor : ours) {
      theirs.push_back(tensor.clone().requires_grad_());
      tensor.requires_grad_();
    }
    const torch::Tensor loss = ContrastiveLoss(ours[0], ours[1], ours[2]);
    // At most 100 times.
    const torch::Tensor scale = start < std::log(100.0) ? theirs[2].exp() : 0 * theirs[2] + 100;
    const torch::Tensor logits = torch::matmul(theirs[0], theirs[1].t()) * scale,
                        own = torch::arange(6);
    const auto summed = torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum);
    const torch::Tensor expected = (torch::nn::functional::cross_entropy(logits, own, summed) +
                                    torch::nn::functional::cross_entropy(logits.t(), own, summed)) /
                                   2;
    EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-10);
    loss.backward();
    expected.backward();
    for (size_t i = 0; i < ours.size(); ++i)
      EXPECT_LT((ours[i].grad() - theirs[i].grad()).abs().max().item<double>(), 1e-10) << i;
  }
}

// The probability that a path's rows, with neighbours that are the same and then blanks taken out,
// give the labels: over all paths.
torch::Tensor PathSum(const torch::Tensor& logits_RV, const std::vector<int64_t>& labels) {
  constexpr int64_t kBlank = 0;
  const int64_t rows = logits_RV.size(0), classes = logits_RV.size(1);
  const torch::Tensor probabilities_RV = logits_RV.softmax(1);
  torch::Tensor sum = torch::zeros({}, kDouble);
  for (int64_t path = 0; path < std::llround(std::pow(classes, rows)); ++path) {
    std::vector<int64_t> written;
    torch::Tensor product = torch::ones({}, kDouble);
    int64_t rest = path, before = kBlank;
    for (int64_t row = 0; row < rows; ++row, rest /= classes) {
      const int64_t choice = rest % classes;
      product = product * probabilities_RV[row][choice];
      if (choice != kBlank && choice != before) written.push_back(choice);
      before = choice;
    }
    if (written == labels) sum = sum + product;
  }
  return sum;
}

TEST(CtcLossTest, IsTheSumOverAllPaths) {
  torch::manual_seed(6);
  const std::vector<int64_t> rows = {5, 3, 1, 4};
  const std::vector<std::vector<int64_t>> labels = {
      {1, 1, 2}, {2}, {1, 2}, {}};  // too few rows for the third
  const torch::Tensor ours = torch::randn({13, 3}, kDouble).requires_grad_();
  const torch::Tensor theirs = ours.detach().clone().requires_grad_();
  const torch::Tensor loss =
      CtcLoss(ours, torch::tensor({0, 5, 8, 9, 13}), torch::tensor({1, 1, 2, 2, 1, 2}),
              torch::tensor({0, 3, 4, 6, 6}), /*blank=*/0);
  torch::Tensor expected = torch::zeros({}, kDouble);
  int64_t first = 0;
  for (size_t i = 0; i < rows.size(); first += rows[i++])
    if (i != 2)
      expected = expected - PathSum(theirs.slice(0, first, first + rows[i]), labels[i]).log();
  EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-10);
  loss.backward();
  expected.backward();
  EXPECT_LT((ours.grad() - theirs.grad()).abs().max().item<double>(), 1e-10);
}

TEST(FusedCrossEntropyTest, GradientsPassFiniteDifferences) {
  const Problem problem;
  const SmoothingWeights weights{0.8, 0.2 / 11};
  CheckGradients(
      [&] {
        return PlainLabelSmoothedCrossEntropy(problem.Logits(), problem.targets_R, weights).loss;
      },
      problem.Parameters());
  CheckGradients(
      [&] {
        return FusedLabelSmoothedCrossEntropy(problem.Logits(), problem.targets_R, weights).loss;
      },
      problem.Parameters());
  CheckGradients(
      [&] {
        return ProjectedLabelSmoothedCrossEntropy(problem.hidden_RD, problem.weight_VD,
                                                  problem.bias_V, problem.targets_R, weights)
            .loss;
      },
      problem.Parameters());
}

TEST(FusedCrossEntropyTest, EqualsThePlainVersionOverManyChunks) {
  const Problem problem(501, 20000, torch::kFloat32);  // several chunks of rows, the last one short
  const SmoothingWeights weights{0.9, 0.1 / 20000};
  const LossAndNll plain =
      PlainLabelSmoothedCrossEntropy(problem.Logits(), problem.targets_R, weights);
  const LossAndNll fused = ProjectedLabelSmoothedCrossEntropy(
      problem.hidden_RD, problem.weight_VD, problem.bias_V, problem.targets_R, weights);
  EXPECT_NEAR(fused.loss.item<double>() / plain.loss.item<double>(), 1, 1e-6);
  EXPECT_NEAR(fused.nll.item<double>() / plain.nll.item<double>(), 1, 1e-6);
  // In f32 the two would differ by the errors of both.
  const Problem exact = problem.To(torch::kFloat64);
  const auto found = torch::autograd::grad({fused.loss}, problem.Parameters());
  const auto wanted = torch::autograd::grad(
      {PlainLabelSmoothedCrossEntropy(exact.Logits(), exact.targets_R, weights).loss},
      exact.Parameters());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_LT(((found[i] - wanted[i]).norm() / wanted[i].norm()).item<double>(), 1e-5) << i;
  }
}

// The most bytes of tensors that computing the loss and its gradients takes.
int64_t MostBytes(const std::function<torch::Tensor()>& loss) {
  const auto bytes = std::make_shared<TensorBytes>();
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, bytes);
  loss().backward();
  return bytes->most();
}

TEST(FusedCrossEntropyTest, KeepsNoLogits) {
  constexpr int64_t kRows = 4000, kClasses = 4000, kLogits = 4 * kRows * kClasses;
  const Problem problem(kRows, kClasses, torch::kFloat32);
  LabelSmoothingLoss loss(0.1, 0);
  EXPECT_LT(MostBytes([&] {
              return loss
                  ->FromHidden(problem.hidden_RD, problem.weight_VD, problem.bias_V,
                               problem.targets_R)
                  .loss;
            }),
            kLogits / 4);
  EXPECT_GE(MostBytes([&] {
              return PlainLabelSmoothedCrossEntropy(problem.Logits(), problem.targets_R,
                                                    {.target = 0.9, .each_class = 0.1 / kClasses})
                  .loss;
            }),
            kLogits);
}

TEST(FusedCrossEntropyTest, WithoutBiasWithoutGradientAndWithoutRows) {
  const Problem problem;
  LabelSmoothingLoss loss(0.1, 0);
  LossSums sums = loss->FromHidden(problem.hidden_RD, problem.weight_VD, {}, problem.targets_R);
  sums.loss.backward();
  EXPECT_TRUE(problem.weight_VD.grad().defined());
  EXPECT_FALSE(problem.bias_V.grad().defined());
  {
    torch::NoGradGuard no_grad;
    EXPECT_FALSE(loss->FromHidden(problem.hidden_RD, problem.weight_VD, {}, problem.targets_R)
                     .loss.requires_grad());
  }
  sums = loss->FromHidden(problem.hidden_RD, problem.weight_VD, {},
                          torch::zeros_like(problem.targets_R));
  EXPECT_EQ(sums.tokens, 0);
  EXPECT_EQ(sums.loss.item<double>(), 0);
  sums.loss.backward();  // nothing counts: gradients are zero, not NaN
  EXPECT_TRUE(problem.hidden_RD.grad().isfinite().all().item<bool>());
}

}  // namespace
}  // namespace attend::nn
