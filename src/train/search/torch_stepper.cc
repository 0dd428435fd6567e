#include "train/search/torch_stepper.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "attend/error.h"
#include "train/tasks/packed_batch.h"

namespace attend {
namespace {

// Numbers at (row, id) of a matrix, as many as there are pairs.
struct Places {
  std::vector<int64_t> rows, ids;

  void Add(int64_t row, int64_t id) {
    rows.push_back(row);
    ids.push_back(id);
  }
  c10::List<std::optional<torch::Tensor>> On(const torch::Device& device) const {
    c10::List<std::optional<torch::Tensor>> indices;
    indices.push_back(torch::tensor(rows, torch::kInt64).to(device));
    indices.push_back(torch::tensor(ids, torch::kInt64).to(device));
    return indices;
  }
};

torch::Tensor AtPlaces(const torch::Tensor& matrix_RV, const Places& places) {
  return matrix_RV.index(places.On(matrix_RV.device())).to(torch::kCPU, torch::kFloat64);
}

}  // namespace

TorchStepper::TorchStepper(std::shared_ptr<nn::SequenceModelImpl> model)
    : model_(std::move(model)),
      device_(model_->DecoderEmbedding().device()),
      forbidden_(model_->config().special_ids) {}

void TorchStepper::Reset(int64_t beam_size) {
  beam_size_ = beam_size;
  state_ = {};
  row_of_.clear();
}

nn::PackedIds TorchStepper::Pack(std::span<const NewSentence> sentences) const {
  if (const auto& frames = model_->config().frames) {
    std::vector<std::span<const float>> recordings;
    for (const NewSentence& sentence : sentences) recordings.push_back(sentence.numbers);
    return PackFrames(recordings, *frames, device_);
  }
  std::vector<int32_t> ids;
  std::vector<int64_t> lengths;
  for (const NewSentence& sentence : sentences) {
    ids.insert(ids.end(), sentence.source.begin(), sentence.source.end());
    lengths.push_back(std::ssize(sentence.source));
  }
  return PackIds(ids, lengths, device_);
}

void TorchStepper::Start(std::span<const NewSentence> sentences) {
  const torch::NoGradGuard no_grad;
  at::init_num_threads();
  const int64_t first = state_.rows();
  state_.Append(model_->Start(Pack(sentences)));
  for (size_t i = 0; i < sentences.size(); ++i) {
    const int64_t hypothesis = sentences[i].index * beam_size_;
    if (std::ssize(row_of_) < hypothesis + beam_size_) row_of_.resize(hypothesis + beam_size_, -1);
    std::fill_n(row_of_.begin() + hypothesis, beam_size_, -1);
    row_of_[hypothesis] = first + static_cast<int64_t>(i);
  }
}

torch::Tensor TorchStepper::ReadOnce(const std::vector<int32_t>& hypotheses,
                                     const std::vector<int64_t>& ids) {
  std::vector<int64_t> rows;
  for (const int32_t hypothesis : hypotheses)
    rows.push_back(std::exchange(row_of_[hypothesis], -1));
  nn::DecoderState read = state_.Rows(rows);
  const torch::Tensor hidden_RD =
      model_->Step(torch::tensor(ids, torch::kInt64).to(device_), &read);
  // The others stay as they are.
  std::vector<int64_t> others;
  for (int64_t& row : row_of_) {
    if (row < 0) continue;
    others.push_back(row);
    row = read.rows() + std::ssize(others) - 1;
  }
  for (size_t i = 0; i < hypotheses.size(); ++i) row_of_[hypotheses[i]] = static_cast<int64_t>(i);
  if (!others.empty()) read.Append(state_.Rows(others));
  state_ = std::move(read);
  return hidden_RD;
}

torch::Tensor TorchStepper::Read(std::span<const StepRow> rows) {
  std::vector<torch::Tensor> hidden;
  std::vector<int64_t> place(rows.size());  // of each row among all that were read
  int64_t read = 0;
  std::vector<size_t> waiting;
  for (size_t r = 0; r < rows.size(); ++r) waiting.push_back(r);
  while (!waiting.empty()) {
    std::vector<int32_t> hypotheses;
    std::vector<int64_t> ids;
    std::vector<size_t> later;
    for (const size_t r : waiting) {
      if (!hypotheses.empty() && hypotheses.back() == rows[r].hypothesis) {
        later.push_back(r);
        continue;
      }
      hypotheses.push_back(rows[r].hypothesis);
      ids.push_back(rows[r].token);
      place[r] = read++;
    }
    hidden.push_back(ReadOnce(hypotheses, ids));
    waiting = std::move(later);
  }
  const torch::Tensor all_RD = torch::cat(hidden);
  std::vector<int64_t> asking;
  for (size_t r = 0; r < rows.size(); ++r)
    if (rows[r].asks) asking.push_back(place[r]);
  return all_RD.index_select(0, torch::tensor(asking, torch::kInt64).to(device_));
}

void TorchStepper::Step(std::span<const StepRow> rows, int64_t k, Candidate* best) {
  const torch::NoGradGuard no_grad;
  at::init_num_threads();
  std::vector<const StepRow*> asking;
  for (const StepRow& row : rows) {
    if (row.sampling != nullptr)
      throw Error(ErrorKind::kUsage, "the engine alone draws tokens; leave the device out");
    if (!row.attention.empty()) {
      throw Error(ErrorKind::kUsage,
                  "the engine alone tells attention, which coverage_penalty needs; leave the "
                  "device out");
    }
    if (row.asks) asking.push_back(&row);
  }
  const torch::Tensor hidden_RD = Read(rows);
  if (asking.empty()) return;
  Answer(asking, model_->Logits(hidden_RD).log_softmax(-1), k, best);
}

void TorchStepper::Answer(const std::vector<const StepRow*>& asking,
                          const torch::Tensor& log_probabilities_RV, int64_t k,
                          Candidate* best) const {
  Places wanted, never;
  for (int64_t r = 0; r < std::ssize(asking); ++r) {
    const StepRow& row = *asking[r];
    for (const int32_t id : row.also) wanted.Add(r, id);
    if (row.forced >= 0) wanted.Add(r, row.forced);
    for (const auto& ids : {forbidden_.After(row), row.never})
      for (const int32_t id : ids)
        if (id >= 0) never.Add(r, id);
  }
  const torch::Tensor given = AtPlaces(log_probabilities_RV, wanted);
  const double* next_given = given.const_data_ptr<double>();
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  const torch::Tensor allowed_RV = log_probabilities_RV.index_put(
      never.On(device_), torch::full({}, kNever, log_probabilities_RV.options()));
  const int64_t count = std::min(k, allowed_RV.size(1));
  const auto [values, ids] = allowed_RV.topk(count, /*dim=*/1);
  const torch::Tensor values_RK = values.to(torch::kCPU, torch::kFloat64).contiguous(),
                      ids_RK = ids.cpu().contiguous();
  for (int64_t r = 0; r < std::ssize(asking); ++r) {
    const StepRow& row = *asking[r];
    Candidate* to = best + r * k;
    std::fill_n(to, k, Candidate{});
    for (const int32_t id : row.also) *to++ = {id, *next_given++};
    if (row.forced >= 0) {
      *to = {row.forced, *next_given++};
      continue;
    }
    std::vector<Candidate> found;
    for (int64_t i = 0; i < count; ++i) {
      const double value = values_RK.const_data_ptr<double>()[r * count + i];
      if (value > kNever)
        found.push_back(
            {static_cast<int32_t>(ids_RK.const_data_ptr<int64_t>()[r * count + i]), value});
    }
    std::ranges::sort(found, [](const Candidate& a, const Candidate& b) {
      return a.log_probability != b.log_probability ? a.log_probability > b.log_probability
                                                    : a.id < b.id;
    });
    int64_t room = k - std::ssize(row.also);
    if (row.most > 0) room = std::min<int64_t>(room, row.most);
    std::copy_n(found.begin(), std::min(room, std::ssize(found)), to);
  }
}

void TorchStepper::Reorder(int64_t sentence, std::span<const int32_t> parents) {
  const auto own = row_of_.begin() + sentence * beam_size_;
  const std::vector<int64_t> before(own, own + beam_size_);
  std::fill_n(own, beam_size_, -1);
  for (size_t i = 0; i < parents.size(); ++i) own[static_cast<int64_t>(i)] = before[parents[i]];
}

std::shared_ptr<const LoadedModel> RunByTorch(std::shared_ptr<const Model> stored,
                                              std::shared_ptr<nn::SequenceModelImpl> model) {
  return std::make_shared<LoadedModel>(std::move(stored),
                                       [model = std::move(model)]() -> std::unique_ptr<Stepper> {
                                         return std::make_unique<TorchStepper>(model);
                                       });
}

}  // namespace attend
