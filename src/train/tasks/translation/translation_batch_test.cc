// Batches of translations, packed and padded.
#include <gtest/gtest.h>

#include "data/example_fixture.h"
#include "train/loop/transfer.h"
#include "train/tasks/translation/guided_alignment.h"
#include "train/tasks/translation/translation_task.h"

namespace attend {
namespace {

// Source with eos (2), target with bos (1) and eos.
const Batch kBatch = BatchOf({
    {{11, 12, 2}, {1, 21, 2}},
    {{13, 2}, {1, 22, 23, 24, 2}},
    {{2}, {1, 2}},
});
const Examples kExamples = kBatch.examples();

torch::Tensor Ids(const std::vector<int64_t>& ids) { return torch::tensor(ids, torch::kInt64); }

TEST(TranslationBatchTest, PackedSentencesStandOneAfterTheOther) {
  const PackedPairs batch = MakePackedPairs(kExamples);
  EXPECT_TRUE(torch::equal(batch.source.ids_R, Ids({11, 12, 2, 13, 2, 2})));
  EXPECT_TRUE(torch::equal(batch.source.positions_R, Ids({0, 1, 2, 0, 1, 0})));
  EXPECT_TRUE(torch::equal(batch.source.offsets_B1, Ids({0, 3, 5, 6})));
  EXPECT_EQ(batch.source.longest, 3);
  EXPECT_TRUE(torch::equal(batch.target_in.ids_R, Ids({1, 21, 1, 22, 23, 24, 1})));
  EXPECT_TRUE(torch::equal(batch.target_out_R, Ids({21, 2, 22, 23, 24, 2, 2})));
}

TEST(TranslationBatchTest, PaddedInputsHaveTheRowsOfPackedOnes) {
  const PaddedPairs batch = MakePaddedPairs(kExamples, /*pad_id=*/0);
  EXPECT_TRUE(torch::equal(batch.source_BS, Ids({11, 12, 2, 13, 2, 0, 2, 0, 0}).view({3, 3})));
  EXPECT_TRUE(
      torch::equal(batch.target_in_BT, Ids({1, 21, 0, 0, 1, 22, 23, 24, 1, 0, 0, 0}).view({3, 4})));
  const PackedPairs packed = MakePackedPairs(kExamples);
  EXPECT_TRUE(torch::equal(batch.target_in_BT.flatten().index_select(0, batch.target_rows_R),
                           packed.target_in.ids_R));
  EXPECT_TRUE(torch::equal(batch.target_out_R, packed.target_out_R));
  EXPECT_TRUE(batch.source_padded);
  EXPECT_FALSE(MakePaddedPairs(kExamples.Part(0, 1), 0).source_padded);
}

// Row t of a target has read its ids up to t; what is linked to one id counts 1 together.
TEST(TranslationBatchTest, LinksArePlacesInPaddedWeights) {
  const Batch batch = BatchOf({
      {{11, 12, 2}, {1, 21, 2}, {0, 1, 1, 1}},
      {{13, 2}, {1, 22, 23, 24, 2}, {0, 3, 1, 2, 0, 2}},
      {{2}, {1, 2}, {}},
  });
  const nn::LinkedKeys links = LinksOf(batch.examples(), /*targets=*/4, /*sources=*/3);
  EXPECT_TRUE(
      torch::equal(links.places_L, Ids({0 * 12 + 1 * 3 + 0, 0 * 12 + 1 * 3 + 1, 1 * 12 + 3 * 3 + 0,
                                        1 * 12 + 2 * 3 + 1, 1 * 12 + 2 * 3 + 0})));
  EXPECT_TRUE(torch::equal(links.weights_L, torch::tensor({0.5f, 0.5f, 1.f, 0.5f, 0.5f})));
}

TEST(TransferTest, OnTheCpuNothingIsCopied) {
  const torch::Tensor x = Ids({1, 2});
  EXPECT_TRUE(Uploader(torch::kCPU).Upload({x})[0].is_same(x));
  EXPECT_TRUE(Download(x).Wait().is_same(x));
}

}  // namespace
}  // namespace attend
