// Ids of a batch's examples as the layers read them.
#ifndef ATTEND_TRAIN_TASKS_PACKED_BATCH_H_
#define ATTEND_TRAIN_TASKS_PACKED_BATCH_H_

#include <cstdint>
#include <span>

#include "attend/nn/stacks.h"
#include "attend/nn/torch.h"
#include "data/example_table.h"

namespace attend {

// Without padding, example by example: of one column the ids from `skip` on, without the last
// `drop`.
nn::PackedIds PackIds(const Examples& examples, int64_t column, int64_t skip, int64_t drop);

// Sentences of these lengths, one after the other, on the device.
nn::PackedIds PackIds(std::span<const int32_t> ids, std::span<const int64_t> lengths,
                      const torch::Device& device);

// One sentence.
nn::PackedIds PackIds(std::span<const int32_t> ids);

// Pictures: a column of patches, or the patches of some, one picture after another.
nn::PackedIds PackPatches(const Examples& examples, int64_t column, const PatchInput& input);
nn::PackedIds PackPatches(std::span<const float> patches, const PatchInput& input);

// Recordings: of a column of frames, with a column of the places of their rows; and some that lie
// one after another, on the device.
nn::PackedIds PackFrames(const Examples& examples, int64_t frames, int64_t rows);
nn::PackedIds PackFrames(std::span<const std::span<const float>> recordings,
                         const FrameInput& input, const torch::Device& device);

// The same of ids, padded on the right: ids [B, longest], and where each of them stands in [B *
// longest].
torch::Tensor PadIds(const nn::PackedIds& packed, int64_t pad_id);
torch::Tensor PaddedRows(const nn::PackedIds& packed);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_PACKED_BATCH_H_
