#include "engine/ensemble_stepper.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace attend {
namespace {

constexpr int64_t kRowsAtOnce = 32;  // whose logits stand whole
constexpr int64_t kBlock = 512;      // logits that a kernel takes at once

Candidate CandidateOf(int32_t id, float logit, double log_sum) {
  return {id, std::min(0.0, static_cast<double>(logit) - log_sum)};
}

}  // namespace

EnsembleStepper::EnsembleStepper(std::vector<EnsembleMember> members, const KernelTable& kernels,
                                 const SpecialIds& ids)
    : members_(std::move(members)),
      kernels_(kernels),
      forbidden_(ids),
      vocabulary_size_(members_.front().stepper->vocabulary_size()) {}

void EnsembleStepper::Reset(int64_t beam_size) {
  for (EnsembleMember& member : members_) member.stepper->Reset(beam_size);
}

void EnsembleStepper::Start(std::span<const NewSentence> sentences) {
  for (EnsembleMember& member : members_) member.stepper->Start(sentences);
}

void EnsembleStepper::Reorder(int64_t sentence, std::span<const int32_t> parents) {
  for (EnsembleMember& member : members_) member.stepper->Reorder(sentence, parents);
}

void EnsembleStepper::Read(std::span<const StepRow> rows) {
  size_t looked_at = 0;
  for (const StepRow& row : rows) {
    std::ranges::fill(row.attention, 0.0F);
    looked_at += row.attention.size();
  }
  attention_.resize(looked_at);
  for (EnsembleMember& member : members_) {
    rows_.assign(rows.begin(), rows.end());
    size_t first = 0;
    for (StepRow& row : rows_) {
      const size_t count = row.attention.size();
      if (count > 0) row.attention = {attention_.data() + first, count};
      first += count;
    }
    member.stepper->Read(rows_);
    for (size_t r = 0; r < rows.size(); ++r) {
      for (size_t s = 0; s < rows[r].attention.size(); ++s)
        rows[r].attention[s] += static_cast<float>(member.weight) * rows_[r].attention[s];
    }
  }
}

void EnsembleStepper::AverageLogits(int64_t first, int64_t count) {
  mean_CV_.assign(count * vocabulary_size_, 0);
  of_CV_.resize(mean_CV_.size());
  log_sums_.assign(count, 0);
  of_log_sums_.resize(count);
  for (EnsembleMember& member : members_) {
    member.stepper->AllLogits(first, count, of_CV_.data(), of_log_sums_.data());
    const auto weight = static_cast<float>(member.weight);
    for (size_t i = 0; i < mean_CV_.size(); ++i) mean_CV_[i] += weight * of_CV_[i];
    for (int64_t r = 0; r < count; ++r) log_sums_[r] += member.weight * of_log_sums_[r];
  }
}

void EnsembleStepper::Step(std::span<const StepRow> rows, int64_t k, Candidate* best) {
  Read(rows);
  std::vector<const StepRow*> asking;
  for (const StepRow& row : rows)
    if (row.asks) asking.push_back(&row);
  for (int64_t first = 0; first < std::ssize(asking); first += kRowsAtOnce) {
    const int64_t count = std::min(kRowsAtOnce, std::ssize(asking) - first);
    AverageLogits(first, count);
    for (int64_t r = 0; r < count; ++r) {
      const std::span<const float> logits_V(mean_CV_.data() + r * vocabulary_size_,
                                            static_cast<size_t>(vocabulary_size_));
      Answer(*asking[first + r], logits_V, log_sums_[r], k, best + (first + r) * k);
    }
  }
}

void EnsembleStepper::Answer(const StepRow& row, std::span<const float> logits_V, double log_sum,
                             int64_t k, Candidate* best) {
  if (row.forced >= 0) {
    best[0] = CandidateOf(row.forced, logits_V[row.forced], log_sum);
    return;
  }
  const std::span<const int32_t> always = forbidden_.After(row);
  never_.assign(always.begin(), always.end());
  never_.insert(never_.end(), row.never.begin(), row.never.end());
  if (row.sampling == nullptr) return AnswerBest(row, logits_V, log_sum, k, best);
  sampler_.Start(kernels_, *row.sampling);
  for (int64_t i = 0; i < vocabulary_size_; i += kBlock)
    sampler_.Take(logits_V.subspan(i, std::min(kBlock, vocabulary_size_ - i)), i, never_);
  sampler_.Finish(log_sum, best);
}

void EnsembleStepper::AnswerBest(const StepRow& row, std::span<const float> logits_V,
                                 double log_sum, int64_t k, Candidate* best) {
  for (const int32_t id : row.also) *best++ = CandidateOf(id, logits_V[id], log_sum);
  const int64_t room = k - std::ssize(row.also);
  top_values_.resize(room);
  top_ids_.resize(room);
  TopK top = {.values = top_values_.data(),
              .ids = top_ids_.data(),
              .k = row.most > 0 ? std::min<int64_t>(row.most, room) : room,
              .count = 0,
              .max = -std::numeric_limits<float>::infinity(),
              .sum = 0,
              .with_sum = false};
  for (int64_t i = 0; i < vocabulary_size_; i += kBlock) {
    kernels_.top_k(logits_V.data() + i, std::min(kBlock, vocabulary_size_ - i),
                   static_cast<int32_t>(i), never_.data(), std::ssize(never_), &top);
  }
  for (int64_t i = 0; i < top.count; ++i) best[i] = CandidateOf(top.ids[i], top.values[i], log_sum);
}

}  // namespace attend
