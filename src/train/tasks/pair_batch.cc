#include "train/tasks/pair_batch.h"

#include "train/tasks/packed_batch.h"

namespace attend {

PackedPairs MakePackedPairs(const Examples& examples) {
  return {PackIds(examples, 0, 0, 0), PackIds(examples, 1, 0, 1), PackIds(examples, 1, 1, 0).ids_R};
}

PaddedPairs MakePaddedPairs(const Examples& examples, int64_t pad_id) {
  const PackedPairs packed = MakePackedPairs(examples);
  PaddedPairs batch{
      PadIds(packed.source, pad_id), PadIds(packed.target_in, pad_id), {}, packed.target_out_R};
  batch.source_padded = packed.source.ids_R.numel() < batch.source_BS.numel();
  batch.target_rows_R = PaddedRows(packed.target_in);
  return batch;
}

nn::DropoutKey DropoutKeyOf(const Shard& shard, uint64_t seed) {
  // A target's last id is no input.
  return {seed, shard.tokens_before[0], shard.tokens_before[1] - shard.examples_before};
}

}  // namespace attend
