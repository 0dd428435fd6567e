#include "train/tasks/samples_by_torch.h"

#include "train/tasks/packed_batch.h"

namespace attend {

std::vector<std::vector<double>> ReplaySamplesByTorch(nn::SequenceModelImpl* model,
                                                      std::span<const Sample> samples) {
  const torch::NoGradGuard no_grad;
  const std::vector<int32_t> begin = model->config().TargetFrame().begin;
  std::vector<std::vector<double>> found;
  for (const Sample& sample : samples) {
    std::vector<double>& own = found.emplace_back();
    if (sample.target_ids.empty()) continue;
    std::vector<int32_t> read = begin;
    read.insert(read.end(), sample.target_ids.begin(), sample.target_ids.end() - 1);
    const torch::Tensor hidden_TD =
        model->PackedHidden(PackIds(sample.source_ids), PackIds(read)).slice(0, begin.size() - 1);
    const torch::Tensor log_probabilities_TV =
        model->Logits(hidden_TD).to(torch::kFloat64).log_softmax(-1);
    for (size_t t = 0; t < sample.target_ids.size(); ++t)
      own.push_back(
          log_probabilities_TV[static_cast<int64_t>(t)][sample.target_ids[t]].item<double>());
  }
  return found;
}

}  // namespace attend
