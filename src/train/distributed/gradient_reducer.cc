#include "train/distributed/gradient_reducer.h"

namespace attend {

GradientReducer::GradientReducer(const FlatLayout& layout, std::vector<torch::Tensor> parts,
                                 ProcessGroup* group, int64_t bucket_elements)
    : parts_(std::move(parts)),
      group_(group),
      bucket_of_(layout.entries.size()),
      ready_(parts_.size(), std::vector<bool>(layout.entries.size())) {
  int64_t end = layout.size;
  for (int64_t i = std::ssize(layout.entries) - 1; i >= 0; --i) {
    if (buckets_.empty() || buckets_.back().end - buckets_.back().begin >= bucket_elements)
      buckets_.push_back({.begin = end, .end = end});
    end = buckets_.back().begin = layout.entries[i].offset;
    ++buckets_.back().gradients;
    bucket_of_[i] = std::ssize(buckets_) - 1;
  }
}

void GradientReducer::Begin() {
  for (Bucket& bucket : buckets_) bucket.missing = bucket.gradients * std::ssize(parts_);
  for (std::vector<bool>& ready : ready_) ready.assign(ready.size(), false);
  started_ = 0;
}

void GradientReducer::Ready(int64_t part, int64_t parameter) {
  if (ready_[part][parameter]) return;
  ready_[part][parameter] = true;
  const std::lock_guard lock(mutex_);
  --buckets_[bucket_of_[parameter]].missing;
  while (started_ < buckets_.size() && buckets_[started_].missing == 0) Start(buckets_[started_++]);
}

void GradientReducer::AllReady(int64_t part) {
  for (int64_t i = 0; i < std::ssize(bucket_of_); ++i) Ready(part, i);
}

void GradientReducer::Start(const Bucket& bucket) {
  const torch::NoGradGuard no_grad;
  const auto slice = [&](const torch::Tensor& part) {
    return part.narrow(0, bucket.begin, bucket.end - bucket.begin);
  };
  torch::Tensor sum = slice(parts_[0]);
  for (size_t part = 1; part < parts_.size(); ++part) sum.add_(slice(parts_[part]));
  pending_.push_back(group_->BeginSum(sum));
}

void GradientReducer::Wait() {
  for (const ProcessGroup::Pending& pending : pending_) pending();
  pending_.clear();
}

}  // namespace attend
