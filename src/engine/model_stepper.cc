#include "engine/model_stepper.h"

#include <algorithm>
#include <utility>

#include "engine/forward.h"

namespace attend {

ModelStepper::ModelStepper(const Weights* weights, std::shared_ptr<const Shortlist> shortlist,
                           Activations* activations)
    : weights_(weights),
      shortlist_(std::move(shortlist)),
      activations_(activations),
      forbidden_(weights->config().special_ids) {}

void ModelStepper::Reset(int64_t beam_size) { weights_->decoder->Reset(beam_size, &cache_); }

void ModelStepper::Start(std::span<const NewSentence> sentences) {
  WorkTimer& timer = activations_->scratch.timer;
  timer.Book(&WorkSeconds::search);
  attend::Start(*weights_, sentences, {}, activations_, &cache_);
  if (shortlist_ == nullptr) return;
  for (const NewSentence& sentence : sentences) SelectColumns(sentence);
  timer.Book(&WorkSeconds::output);
}

void ModelStepper::SelectColumns(const NewSentence& sentence) {
  if (std::ssize(short_heads_) <= sentence.index) short_heads_.resize(sentence.index + 1);
  short_heads_[sentence.index].Select(*weights_, *shortlist_, sentence);
}

NextToken ModelStepper::AskedOf(const StepRow& row) {
  std::span<const int32_t> never = forbidden_.After(row);
  if (!row.never.empty()) {
    std::vector<int32_t>& own = never_.emplace_back(never.begin(), never.end());
    own.insert(own.end(), row.never.begin(), row.never.end());
    never = own;
  }
  const bool whole = shortlist_ == nullptr || row.forced >= 0 || row.sampling != nullptr;
  const ShortHead* head = whole ? nullptr : &short_heads_[cache_.SentenceOf(row.hypothesis)];
  return {row.forced, never, row.scored, row.also, head, row.sampling, row.most};
}

Sinks ModelStepper::AttentionOf(std::span<const StepRow> rows) const {
  if (std::ranges::all_of(rows, [](const StepRow& row) { return row.attention.empty(); }))
    return {};
  Sinks sinks;
  sinks.attention = [this, rows, wanted = weights_->config().AlignmentLayer() - 1](
                        AttentionPlace place, int64_t layer, int64_t row, const float* weights_HS,
                        int64_t keys) {
    if (place != AttentionPlace::kCross || layer != wanted) return;
    const std::span<float> mean_S = rows[row].attention;
    const int64_t heads = weights_->config().decoder->heads;
    for (int64_t s = 0; s < std::min(keys, std::ssize(mean_S)); ++s) {
      float sum = 0;
      for (int64_t h = 0; h < heads; ++h) sum += weights_HS[h * keys + s];
      mean_S[s] = sum / static_cast<float>(heads);
    }
  };
  return sinks;
}

void ModelStepper::Read(std::span<const StepRow> rows) {
  activations_->scratch.timer.Book(&WorkSeconds::search);
  rows_.clear();
  asking_.clear();
  for (const StepRow& row : rows) {
    if (row.asks) asking_.push_back(static_cast<int32_t>(rows_.size()));
    rows_.push_back({row.hypothesis, row.token, row.source_row});
  }
  Decode(*weights_, rows_, AttentionOf(rows), activations_, &cache_);
  KeepRows(*weights_, asking_, activations_);
}

void ModelStepper::AllLogits(int64_t first, int64_t count, float* logits_CV, double* log_sums_C) {
  attend::AllLogits(*weights_, first, count, activations_, logits_CV, log_sums_C);
  activations_->scratch.timer.Book(&WorkSeconds::output);
}

void ModelStepper::Step(std::span<const StepRow> rows, int64_t k, Candidate* best) {
  WorkTimer& timer = activations_->scratch.timer;
  Read(rows);
  asked_.clear();
  never_.clear();
  never_.reserve(rows.size());
  for (const StepRow& row : rows) {
    if (row.asks) asked_.push_back(AskedOf(row));
  }
  Predict(*weights_, k, asked_, activations_, best);
  timer.Book(&WorkSeconds::output);
}

void ModelStepper::Reorder(int64_t sentence, std::span<const int32_t> parents) {
  cache_.Reorder(sentence, parents);
}

}  // namespace attend
