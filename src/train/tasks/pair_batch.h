// Batches of sources with targets, as an encoder with a decoder reads them.
#ifndef ATTEND_TRAIN_TASKS_PAIR_BATCH_H_
#define ATTEND_TRAIN_TASKS_PAIR_BATCH_H_

#include <cstdint>

#include "attend/nn/stacks.h"
#include "attend/nn/torch.h"
#include "data/example_table.h"
#include "data/shard.h"

namespace attend {

// Batches as the model reads them, without padding, sentence by sentence. Sources end with eos,
// where the model reads it; target inputs begin with bos, target outputs end with eos.
struct PackedPairs {
  nn::PackedIds source, target_in;
  torch::Tensor target_out_R;
};
PackedPairs MakePackedPairs(const Examples& examples);

// The same with inputs that are padded, as GPUs take them: ids [B, longest].
struct PaddedPairs {
  torch::Tensor source_BS, target_in_BT;  // padded on the right
  torch::Tensor target_rows_R;            // where [B * T] rows are no padding
  torch::Tensor target_out_R;
  bool source_padded = true;  // known here, where a GPU would have to be waited for
};
PaddedPairs MakePaddedPairs(const Examples& examples, int64_t pad_id);

// What a pass over a shard of pairs draws its dropout from.
nn::DropoutKey DropoutKeyOf(const Shard& shard, uint64_t seed);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_PAIR_BATCH_H_
