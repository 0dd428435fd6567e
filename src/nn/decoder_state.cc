#include "attend/nn/decoder_state.h"

#include <algorithm>

#include "attend/nn/masks.h"

namespace attend::nn {
namespace {

// Fills [R, S, ...] with zeros up to S = size.
torch::Tensor Widened(const torch::Tensor& x_RS, int64_t size) {
  if (x_RS.size(1) >= size) return x_RS;
  std::vector<int64_t> shape = x_RS.sizes().vec();
  shape[1] = size - shape[1];
  return torch::cat({x_RS, x_RS.new_zeros(shape)}, 1);
}

void AppendPadded(const std::vector<torch::Tensor>& more, std::vector<torch::Tensor>* tensors) {
  for (size_t i = 0; i < more.size(); ++i) {
    torch::Tensor& tensor = (*tensors)[i];
    const int64_t size = std::max(tensor.size(1), more[i].size(1));
    tensor = torch::cat({Widened(tensor, size), Widened(more[i], size)});
  }
}

int64_t Longest(const std::vector<int64_t>& lengths) {
  return lengths.empty() ? 0 : *std::ranges::max_element(lengths);
}

}  // namespace

DecoderState DecoderState::Rows(const std::vector<int64_t>& rows) const {
  DecoderState chosen;
  for (const int64_t row : rows) {
    chosen.source_lengths.push_back(source_lengths[row]);
    chosen.lengths.push_back(lengths[row]);
  }
  // What no row has any more is left behind.
  const auto take = [index = torch::tensor(rows, torch::kInt64)](
                        const std::vector<torch::Tensor>& from, int64_t size,
                        std::vector<torch::Tensor>* to) {
    for (const torch::Tensor& tensor : from) {
      const torch::Tensor narrow = size < 0 ? tensor : tensor.narrow(1, 0, size);
      to->push_back(narrow.index_select(0, index.to(tensor.device())));
    }
  };
  take(source_RS, Longest(chosen.source_lengths), &chosen.source_RS);
  take(past_RT, Longest(chosen.lengths), &chosen.past_RT);
  take(last_R, -1, &chosen.last_R);
  return chosen;
}

void DecoderState::Append(const DecoderState& other) {
  if (rows() == 0) {
    *this = other;
    return;
  }
  AppendPadded(other.source_RS, &source_RS);
  AppendPadded(other.past_RT, &past_RT);
  for (size_t i = 0; i < last_R.size(); ++i) last_R[i] = torch::cat({last_R[i], other.last_R[i]});
  source_lengths.insert(source_lengths.end(), other.source_lengths.begin(),
                        other.source_lengths.end());
  lengths.insert(lengths.end(), other.lengths.begin(), other.lengths.end());
}

void DecoderState::Grow() {
  const int64_t size = Longest(lengths) + 1;
  for (torch::Tensor& tensor : past_RT) tensor = Widened(tensor, size);
}

DecoderState StateOfSources(const torch::Tensor& offsets_B1) {
  DecoderState state;
  const torch::Tensor lengths_B = offsets_B1.diff();
  const auto* lengths = lengths_B.const_data_ptr<int64_t>();
  state.source_lengths.assign(lengths, lengths + lengths_B.numel());
  state.lengths.assign(lengths_B.numel(), 0);
  return state;
}

torch::Tensor PadSentences(const torch::Tensor& rows_RD, const torch::Tensor& offsets_B1) {
  const std::vector<int64_t> lengths = StateOfSources(offsets_B1).source_lengths;
  const int64_t longest = Longest(lengths), sentences = std::ssize(lengths);
  std::vector<int64_t> places;  // not by pad_sequence: its gradient copies all for each sentence
  for (int64_t b = 0; b < sentences; ++b)
    for (int64_t t = 0; t < lengths[b]; ++t) places.push_back(b * longest + t);
  const torch::Tensor places_R = torch::tensor(places, torch::kInt64).to(rows_RD.device());
  return rows_RD.new_zeros({sentences * longest, rows_RD.size(1)})
      .index_copy(0, places_R, rows_RD)
      .unflatten(0, {sentences, longest});
}

torch::Tensor LengthMask(const std::vector<int64_t>& lengths, int64_t size,
                         const torch::TensorOptions& options) {
  if (std::ranges::all_of(lengths, [size](int64_t length) { return length >= size; })) return {};
  const torch::Tensor lengths_R = torch::tensor(lengths, torch::kInt64).to(options.device());
  const torch::Tensor places_S =
      torch::arange(size, torch::TensorOptions(torch::kInt64).device(options.device()));
  return MaskFromAllowed((places_S < lengths_R.unsqueeze(1)).unsqueeze(1).unsqueeze(1),
                         c10::typeMetaToScalarType(options.dtype()));
}

}  // namespace attend::nn
