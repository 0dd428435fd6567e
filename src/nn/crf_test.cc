#include "attend/nn/crf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

namespace attend::nn {
namespace {

constexpr int64_t kLabels = 3;

struct CrfCase {
  torch::Tensor scores_RL, labels_R, offsets_B1;
  CrfScores transitions;
};

// Sentences of 3, 1 and 4 words.
CrfCase MakeCase() {
  torch::manual_seed(7);
  const auto random = [](at::IntArrayRef shape) {
    return torch::randn(shape, torch::kFloat64).requires_grad_();
  };
  return {random({8, kLabels}),
          torch::tensor({0, 2, 1, 1, 2, 2, 0, 1}, torch::kInt64),
          torch::tensor({0, 3, 4, 8}, torch::kInt64),
          {random({kLabels}), random({kLabels}), random({kLabels, kLabels})}};
}

double SequenceScore(const CrfCase& given, int64_t first, const std::vector<int64_t>& labels) {
  double score = given.transitions.begin_L[labels.front()].item<double>() +
                 given.transitions.end_L[labels.back()].item<double>();
  for (size_t t = 0; t < labels.size(); ++t) {
    score += given.scores_RL[first + static_cast<int64_t>(t)][labels[t]].item<double>();
    if (t > 0) score += given.transitions.next_LL[labels[t - 1]][labels[t]].item<double>();
  }
  return score;
}

// Every sequence of a sentence by itself.
double LossByEnumeration(const CrfCase& given) {
  double loss = 0;
  for (int64_t b = 0; b + 1 < given.offsets_B1.size(0); ++b) {
    const auto first = given.offsets_B1[b].item<int64_t>();
    const auto words = given.offsets_B1[b + 1].item<int64_t>() - first;
    double sum = 0;
    std::vector<int64_t> labels;
    const std::function<void()> visit = [&] {
      if (std::ssize(labels) == words) {
        sum += std::exp(SequenceScore(given, first, labels));
        return;
      }
      for (int64_t label = 0; label < kLabels; ++label) {
        labels.push_back(label);
        visit();
        labels.pop_back();
      }
    };
    visit();
    for (int64_t t = 0; t < words; ++t) labels.push_back(given.labels_R[first + t].item<int64_t>());
    loss += std::log(sum) - SequenceScore(given, first, labels);
  }
  return loss;
}

TEST(Crf, LossIsThatOfAllSequencesOneByOne) {
  const CrfCase given = MakeCase();
  const double loss =
      CrfLoss(given.scores_RL, given.labels_R, given.offsets_B1, given.transitions).item<double>();
  EXPECT_NEAR(loss, LossByEnumeration(given), 1e-10);
}

TEST(Crf, GradientsAreThoseOfDifferences) {
  CrfCase given = MakeCase();
  CrfLoss(given.scores_RL, given.labels_R, given.offsets_B1, given.transitions).backward();
  const torch::NoGradGuard no_grad;
  for (const torch::Tensor& parameter : {given.scores_RL, given.transitions.begin_L,
                                         given.transitions.end_L, given.transitions.next_LL}) {
    const torch::Tensor flat = parameter.flatten(), gradient = parameter.grad().flatten();
    for (int64_t i = 0; i < flat.numel(); ++i) {
      constexpr double kStep = 1e-5;
      const double before = flat[i].item<double>();
      const auto loss_at = [&](double value) {
        flat[i] = value;
        return CrfLoss(given.scores_RL, given.labels_R, given.offsets_B1, given.transitions)
            .item<double>();
      };
      const double difference = loss_at(before + kStep) - loss_at(before - kStep);
      flat[i] = before;
      EXPECT_NEAR(gradient[i].item<double>(), difference / (2 * kStep), 1e-7);
    }
  }
}

}  // namespace
}  // namespace attend::nn
