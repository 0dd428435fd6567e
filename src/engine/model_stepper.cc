#include "engine/model_stepper.h"

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
  const ShortHead* head = whole ? nullptr : &short_heads_[row.hypothesis / cache_.beam_size()];
  return {row.forced, never, row.scored, row.also, head, row.sampling, row.most};
}

void ModelStepper::Step(std::span<const StepRow> rows, int64_t k, Candidate* best) {
  WorkTimer& timer = activations_->scratch.timer;
  timer.Book(&WorkSeconds::search);
  rows_.clear();
  asking_.clear();
  asked_.clear();
  never_.clear();
  never_.reserve(rows.size());
  for (const StepRow& row : rows) {
    if (row.asks) {
      asking_.push_back(static_cast<int32_t>(rows_.size()));
      asked_.push_back(AskedOf(row));
    }
    rows_.push_back({row.hypothesis, row.token, row.source_row});
  }
  Decode(*weights_, rows_, {}, activations_, &cache_);
  KeepRows(*weights_, asking_, activations_);
  Predict(*weights_, k, asked_, activations_, best);
  timer.Book(&WorkSeconds::output);
}

void ModelStepper::Reorder(int64_t sentence, std::span<const int32_t> parents) {
  cache_.Reorder(sentence, parents);
}

}  // namespace attend
