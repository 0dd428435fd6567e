#include "engine/output_layer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend/error.h"

namespace attend {
namespace {

constexpr int64_t kHeadBlock = 512;  // columns of logits that stand at once; panels divide it

// Where an id stands among rising columns; -1: it does not.
int32_t ColumnOf(std::span<const int32_t> columns, int32_t id) {
  const auto at = std::ranges::lower_bound(columns, id);
  return at != columns.end() && *at == id ? static_cast<int32_t>(at - columns.begin()) : -1;
}

// What log-probabilities are counted from: the log-sum-exp of all entries, or the best one.
double LogSum(const TopK& top) {
  const auto max = static_cast<double>(top.max), sum = static_cast<double>(top.sum);
  const double best = top.count > 0 ? static_cast<double>(top.values[0]) : 0;
  const double log_sum = top.with_sum ? max + std::log(sum) : best + sum;
  if (std::isfinite(log_sum)) return log_sum;
  throw Error(ErrorKind::kRuntime,
              "the model gives numbers that are not finite; `attend verify` finds bad weights");
}

// The wanted token alone, where there is one; else those asked for besides, whose logits stand at
// `also`, and the best.
void WriteCandidates(const TopK& top, const NextToken& asked, float wanted_logit, const float* also,
                     Candidate* best) {
  const int32_t wanted = asked.wanted;
  const double log_sum = LogSum(top);
  const auto candidate = [&](int32_t id, float logit) {
    return Candidate{id, std::min(0.0, static_cast<double>(logit) - log_sum)};
  };
  if (wanted >= 0) {
    best[0] = candidate(wanted, top.with_sum ? wanted_logit : static_cast<float>(log_sum));
    return;
  }
  for (const int32_t id : asked.also) *best++ = candidate(id, *also++);
  for (int64_t i = 0; i < top.count; ++i) best[i] = candidate(top.ids[i], top.values[i]);
}

// One call of Predict.
class Prediction {
 public:
  Prediction(const Weights& weights, std::span<const NextToken> asked, Activations* activations)
      : weights_(weights),
        asked_(asked),
        activations_(activations),
        scratch_(&activations->output) {}

  void Run(int64_t k, Candidate* best);

 private:
  // Rows [first, first + count), over one set of columns.
  struct RowGroup {
    int64_t first = 0, count = 0;
    const ShortHead* head = nullptr;
  };
  void Prepare(int64_t stride);
  void PrepareSamplers();
  RowGroup GroupAt(int64_t first) const;
  void RunGroup(const RowGroup& group, const Linear::Input& hidden_RD);
  // Takes the logits of the columns from `first` on, of one row.
  void Take(std::span<const float> logits, int64_t first, int64_t row);

  const Weights& weights_;
  const std::span<const NextToken> asked_;
  Activations* activations_;
  OutputScratch* scratch_;
};

void Prediction::Prepare(int64_t stride) {
  const int64_t rows = std::ssize(asked_);
  scratch_->top_values.resize(rows * stride);
  scratch_->top_ids.resize(rows * stride);
  scratch_->top.resize(rows);
  scratch_->wanted.assign(rows, 0);
  scratch_->also_first.assign(rows + 1, 0);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t also = std::ssize(asked_[r].also), room = stride - also;
    scratch_->also_first[r + 1] = scratch_->also_first[r] + also;
    scratch_->top[r] = {scratch_->top_values.data() + r * stride,
                        scratch_->top_ids.data() + r * stride,
                        asked_[r].most > 0 ? std::min(asked_[r].most, room) : room,
                        0,
                        -std::numeric_limits<float>::infinity(),
                        0,
                        asked_[r].scored};
  }
  // What no column stands for can't be written.
  scratch_->also.assign(scratch_->also_first[rows], -std::numeric_limits<float>::infinity());
  PrepareSamplers();
}

void Prediction::PrepareSamplers() {
  scratch_->sampler_of.assign(asked_.size(), -1);
  size_t count = 0;
  for (size_t r = 0; r < asked_.size(); ++r) {
    if (asked_[r].sampling == nullptr) continue;
    if (count == scratch_->samplers.size()) scratch_->samplers.emplace_back();
    scratch_->samplers[count].Start(weights_.kernels, *asked_[r].sampling);
    scratch_->sampler_of[r] = static_cast<int32_t>(count++);
  }
}

Prediction::RowGroup Prediction::GroupAt(int64_t first) const {
  RowGroup group{first, 1, asked_[first].head};
  while (first + group.count < std::ssize(asked_) &&
         asked_[first + group.count].head == group.head) {
    ++group.count;
  }
  return group;
}

void Prediction::Take(std::span<const float> logits, int64_t first, int64_t row) {
  const NextToken& asked = asked_[row];
  std::span<const int32_t> forbidden = asked.forbidden;
  if (asked.head != nullptr) {
    scratch_->forbidden.clear();
    for (const int32_t id : asked.forbidden) {
      scratch_->forbidden.push_back(ColumnOf(asked.head->columns, id));
    }
    forbidden = scratch_->forbidden;
  }
  const int64_t count = std::ssize(logits);
  const int32_t sampler = scratch_->sampler_of[row];
  for (int64_t i = 0; i < count; i += kHeadBlock) {
    if (sampler >= 0) {
      const auto block = logits.subspan(i, std::min(kHeadBlock, count - i));
      scratch_->samplers[sampler].Take(block, first + i, forbidden);
    }
    weights_.kernels.top_k(logits.data() + i, std::min(kHeadBlock, count - i),
                           static_cast<int32_t>(first + i), forbidden.data(), std::ssize(forbidden),
                           &scratch_->top[row]);
  }
  const int64_t wanted = asked.wanted - first;
  if (wanted >= 0 && wanted < count) scratch_->wanted[row] = logits[wanted];
  for (size_t i = 0; i < asked.also.size(); ++i) {
    const int32_t id = asked.also[i];
    const int64_t at = (asked.head != nullptr ? ColumnOf(asked.head->columns, id) : id) - first;
    if (at >= 0 && at < count) scratch_->also[scratch_->also_first[row] + i] = logits[at];
  }
}

void Prediction::RunGroup(const RowGroup& group, const Linear::Input& hidden_RD) {
  const Linear& product = group.head != nullptr ? group.head->product : *weights_.vocabulary_head;
  const Linear::Input input = hidden_RD.Some(group.first, group.count);
  LinearScratch* scratch = &activations_->scratch.linear;
  // A team shares all columns at once; blocks are taken in the same order either way.
  const int64_t wide = scratch->team != nullptr ? product.columns() : kHeadBlock;
  float* logits = activations_->logits.Get(group.count * wide);
  for (int64_t first = 0; first < product.columns(); first += wide) {
    const int64_t columns = std::min(wide, product.columns() - first);
    product.ApplyColumns(input, first, first + columns, scratch, logits);
    for (int64_t r = 0; r < group.count; ++r) {
      Take({logits + r * columns, static_cast<size_t>(columns)}, first, group.first + r);
    }
  }
  if (group.head == nullptr) return;
  for (int64_t r = group.first; r < group.first + group.count; ++r) {
    TopK& top = scratch_->top[r];
    for (int64_t i = 0; i < top.count; ++i) top.ids[i] = group.head->columns[top.ids[i]];
  }
}

void Prediction::Run(int64_t k, Candidate* best) {
  const int64_t rows = std::ssize(asked_), stride = std::max<int64_t>(k, 1);
  Prepare(stride);
  const Linear::Input hidden_RD = weights_.vocabulary_head->Read(
      activations_->hidden_RD.Get(0), rows, &activations_->scratch.linear);
  for (int64_t r = 0; r < rows;) {
    const RowGroup group = GroupAt(r);
    RunGroup(group, hidden_RD);
    r += group.count;
  }
  for (int64_t r = 0; r < rows; ++r) {
    if (const int32_t sampler = scratch_->sampler_of[r]; sampler >= 0) {
      scratch_->samplers[sampler].Finish(LogSum(scratch_->top[r]), best + r * stride);
      continue;
    }
    WriteCandidates(scratch_->top[r], asked_[r], scratch_->wanted[r],
                    scratch_->also.data() + scratch_->also_first[r], best + r * stride);
  }
}

}  // namespace

void ShortHead::Select(const Weights& weights, const Shortlist& shortlist,
                       const NewSentence& sentence) {
  columns = shortlist.Columns(sentence.source);
  const auto leave_in = [this](int32_t id) {
    const auto at = std::ranges::lower_bound(columns, id);
    if (at == columns.end() || *at != id) columns.insert(at, id);
  };
  leave_in(static_cast<int32_t>(weights.config().special_ids.eos));
  for (const int32_t id : sentence.once) leave_in(id);
  for (const int32_t id : sentence.wanted) leave_in(id);
  memory.Clear();
  const TensorView& stored = weights.model->tensors.Get(OutputWeightName(weights.config()));
  product = weights.vocabulary_head->Select(columns, stored, &memory);
}

void KeepRows(const Weights& weights, std::span<const int32_t> rows, Activations* activations) {
  const int64_t width = weights.config().decoder->d_model;
  float* const hidden_RD = activations->hidden_RD.Get(0);
  for (int64_t r = 0; r < std::ssize(rows); ++r) {
    if (rows[r] != r) std::copy_n(hidden_RD + rows[r] * width, width, hidden_RD + r * width);
  }
}

void Predict(const Weights& weights, int64_t k, std::span<const NextToken> asked,
             Activations* activations, Candidate* best) {
  Prediction(weights, asked, activations).Run(k, best);
}

void AllLogits(const Weights& weights, int64_t first, int64_t count, Activations* activations,
               float* logits_CV, double* log_sums_C) {
  const int64_t width = weights.config().decoder->d_model;
  const int64_t columns = weights.vocabulary_head->columns();
  weights.vocabulary_head->Apply(activations->hidden_RD.Get(0) + first * width, count,
                                 &activations->scratch.linear, logits_CV);
  for (int64_t r = 0; r < count; ++r) {
    float value = 0;
    int32_t id = 0;
    TopK top = {.values = &value,
                .ids = &id,
                .k = 1,
                .count = 0,
                .max = -std::numeric_limits<float>::infinity(),
                .sum = 0};
    const float* logits_V = logits_CV + r * columns;
    for (int64_t i = 0; i < columns; i += kHeadBlock) {
      weights.kernels.top_k(logits_V + i, std::min(kHeadBlock, columns - i),
                            static_cast<int32_t>(i), nullptr, 0, &top);
    }
    log_sums_C[r] = LogSum(top);
  }
}

void Logits(const Weights& weights, int64_t rows, Activations* activations, float* logits_RV) {
  weights.vocabulary_head->Apply(activations->hidden_RD.Get(0), rows, &activations->scratch.linear,
                                 logits_RV);
}

}  // namespace attend
