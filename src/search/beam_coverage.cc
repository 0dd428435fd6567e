// What a beam search does for a coverage penalty: adds up how much a hypothesis looks at each token
// of the source.
#include <algorithm>
#include <cmath>

#include "search/beam_search.h"

namespace attend {

std::span<float> BeamSearch::NextAttention() {
  if (!Covers()) return {};
  const size_t width = input_->source.size();
  return std::span<float>(attention_).subspan(width * attention_rows_++, width);
}

// Of a first step, all rows but the last of them write the prefix of the one hypothesis.
void BeamSearch::AddAttention() {
  const size_t width = input_->source.size();
  const int64_t rows = std::ssize(attention_) / static_cast<int64_t>(std::max<size_t>(width, 1));
  for (int64_t r = 0; r < rows; ++r) {
    float* const sum_S = coverage_.data() + (started_ ? r : 0) * width;
    for (size_t s = 0; s < width; ++s) sum_S[s] += attention_[r * width + s];
  }
}

void BeamSearch::PassCoverageOn() {
  const size_t width = input_->source.size();
  next_coverage_.clear();
  for (const int32_t parent : parents_) {
    const auto of_parent = coverage_.begin() + static_cast<std::ptrdiff_t>(parent * width);
    next_coverage_.insert(next_coverage_.end(), of_parent,
                          of_parent + static_cast<std::ptrdiff_t>(width));
  }
  coverage_.swap(next_coverage_);
}

double BeamSearch::CoverageScore(int64_t row) const {
  constexpr double kLeast = 1e-10;  // so that a token that nobody looked at costs no infinity
  const int64_t width = std::ssize(input_->source);
  double sum = 0;
  for (int64_t s = options_->source_begin; s < width - options_->source_end; ++s) {
    const double covered = coverage_[row * width + s];
    sum += std::log(std::clamp(covered, kLeast, 1.0));
  }
  return input_->options.coverage_penalty * sum;
}

}  // namespace attend
