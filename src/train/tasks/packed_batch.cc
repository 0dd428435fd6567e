#include "train/tasks/packed_batch.h"

#include <algorithm>
#include <numeric>

namespace attend {

nn::PackedIds PackIds(const Examples& examples, int64_t column, int64_t skip, int64_t drop) {
  const int64_t sentences = examples.size();
  nn::PackedIds packed;
  packed.offsets_B1 = torch::zeros({sentences + 1}, torch::kInt64);
  int64_t* offsets = packed.offsets_B1.mutable_data_ptr<int64_t>();
  for (int64_t b = 0; b < sentences; ++b) {
    const int64_t length = examples[b].Length(column) - skip - drop;
    offsets[b + 1] = offsets[b] + length;
    packed.longest = std::max(packed.longest, length);
  }
  packed.ids_R = torch::empty({offsets[sentences]}, torch::kInt64);
  packed.positions_R = torch::empty({offsets[sentences]}, torch::kInt64);
  int64_t* ids = packed.ids_R.mutable_data_ptr<int64_t>();
  int64_t* places = packed.positions_R.mutable_data_ptr<int64_t>();
  for (int64_t b = 0; b < sentences; ++b) {
    const std::span<const int32_t> from = examples[b].Ids(column);
    std::copy(from.begin() + skip, from.end() - drop, ids + offsets[b]);
    std::iota(places + offsets[b], places + offsets[b + 1], 0);
  }
  return packed;
}

nn::PackedIds PackIds(std::span<const int32_t> ids, std::span<const int64_t> lengths,
                      const torch::Device& device) {
  std::vector<int64_t> places, offsets{0};
  for (const int64_t length : lengths) {
    for (int64_t place = 0; place < length; ++place) places.push_back(place);
    offsets.push_back(offsets.back() + length);
  }
  const std::vector<int64_t> wide(ids.begin(), ids.end());
  return {torch::tensor(wide, torch::kInt64).to(device),
          torch::tensor(places, torch::kInt64).to(device), torch::tensor(offsets, torch::kInt64),
          lengths.empty() ? 0 : *std::ranges::max_element(lengths)};
}

nn::PackedIds PackIds(std::span<const int32_t> ids) {
  const int64_t length = std::ssize(ids);
  return PackIds(ids, {&length, 1}, torch::kCPU);
}

namespace {

// So many pictures, whose patches are to be filled in.
nn::PackedIds EmptyPictures(int64_t pictures, const PatchInput& input) {
  nn::PackedIds packed;
  packed.longest = input.rows();
  packed.offsets_B1 = torch::arange(pictures + 1, torch::kInt64) * packed.longest;
  packed.positions_R = torch::arange(packed.longest, torch::kInt64).repeat({pictures});
  packed.patches_PE = torch::empty({pictures * input.patches(), input.patch_size()});
  return packed;
}

}  // namespace

nn::PackedIds PackPatches(const Examples& examples, int64_t column, const PatchInput& input) {
  nn::PackedIds packed = EmptyPictures(examples.size(), input);
  float* to = packed.patches_PE.mutable_data_ptr<float>();
  for (const Example example : examples) to = std::ranges::copy(example.Numbers(column), to).out;
  return packed;
}

nn::PackedIds PackPatches(std::span<const float> patches, const PatchInput& input) {
  nn::PackedIds packed = EmptyPictures(std::ssize(patches) / input.bytes(), input);
  std::ranges::copy(patches, packed.patches_PE.mutable_data_ptr<float>());
  return packed;
}

nn::PackedIds PackFrames(const Examples& examples, int64_t frames, int64_t rows) {
  nn::PackedIds packed = PackIds(examples, rows, 0, 0);
  packed.ids_R = torch::Tensor();
  std::vector<int64_t> offsets = {0};
  int64_t width = 0;
  for (const Example example : examples) {
    offsets.push_back(offsets.back() + example.Length(frames));
    width = std::ssize(example.Numbers(frames)) / example.Length(frames);
  }
  packed.frames_FM = torch::empty({offsets.back(), width});
  float* to = packed.frames_FM.mutable_data_ptr<float>();
  for (const Example example : examples) to = std::ranges::copy(example.Numbers(frames), to).out;
  packed.frame_offsets_B1 = torch::tensor(offsets, torch::kInt64);
  return packed;
}

nn::PackedIds PackFrames(std::span<const std::span<const float>> recordings,
                         const FrameInput& input, const torch::Device& device) {
  std::vector<int64_t> offsets = {0}, rows;
  std::vector<float> numbers;
  for (const std::span<const float> frames_TM : recordings) {
    const int64_t frames = std::ssize(frames_TM) / input.mels;
    offsets.push_back(offsets.back() + frames);
    rows.push_back(input.RowsOf(frames));
    numbers.insert(numbers.end(), frames_TM.begin(), frames_TM.end());
  }
  const auto count = std::accumulate(rows.begin(), rows.end(), int64_t{0});
  nn::PackedIds packed = PackIds(std::vector<int32_t>(count), rows, device);
  packed.ids_R = torch::Tensor();
  packed.frames_FM = torch::tensor(numbers).view({-1, input.mels}).to(device);
  packed.frame_offsets_B1 = torch::tensor(offsets, torch::kInt64);
  return packed;
}

torch::Tensor PaddedRows(const nn::PackedIds& packed) {
  const torch::Tensor lengths_B = packed.offsets_B1.diff();
  const torch::Tensor begins_B = torch::arange(lengths_B.size(0), torch::kInt64) * packed.longest;
  return begins_B.repeat_interleave(lengths_B) + packed.positions_R;
}

torch::Tensor PadIds(const nn::PackedIds& packed, int64_t pad_id) {
  const int64_t sentences = packed.offsets_B1.size(0) - 1;
  return torch::full({sentences * packed.longest}, pad_id, torch::kInt64)
      .index_copy_(0, PaddedRows(packed), packed.ids_R)
      .view({sentences, packed.longest});
}

}  // namespace attend
