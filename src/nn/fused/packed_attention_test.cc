// Attention over packed rows against its plain version.
#include "nn/fused/packed_attention.h"

#include "attend/error.h"
#include "nn/fused/fused_expectations.h"

namespace attend::nn {
namespace {

TEST(PackedAttentionTest, EqualsThePlainVersion) {
  torch::manual_seed(3);
  // Sentences of one token, of none, of lengths around the vectors', and one that windows cut into
  // blocks.
  const std::vector<int64_t> targets = {1, 7, 0, 8, 17, 33, 3, 1, 150},
                             sources = {1, 9, 4, 16, 15, 34, 0, 5, 2};
  const torch::Tensor target_offsets = Offsets(targets), source_offsets = Offsets(sources);
  const int64_t target_rows = target_offsets[-1].item<int64_t>(),
                source_rows = source_offsets[-1].item<int64_t>();
  for (const HeadShape& shape : {HeadShape{1, 8, 8}, HeadShape{4, 32, 32}, HeadShape{3, 5, 7},
                                 HeadShape{2, 17, 1}, HeadShape{1, 1, 33}}) {
    const int64_t keys = shape.heads * shape.key_width, values = shape.heads * shape.value_width;
    for (const DropoutSite& site : {kNone, kSome}) {
      for (const bool causal : {false, true}) {
        for (const int64_t window : {0, 1, 6, 20, 40}) {
          const auto mask =
              AttentionMask::Packed(target_offsets, target_offsets, causal).Near(window);
          ExpectEqual(
              [&](const Tensors& x) { return PackedAttention(x[0], {}, shape, mask, site); },
              [&](const Tensors& x) { return PlainPackedAttention(x[0], {}, shape, mask, site); },
              {Random({target_rows, 2 * keys + values})}, "self");
        }
      }
      const auto mask = AttentionMask::Packed(target_offsets, source_offsets, false);
      ExpectEqual(
          [&](const Tensors& x) { return PackedAttention(x[0], x[1], shape, mask, site); },
          [&](const Tensors& x) { return PlainPackedAttention(x[0], x[1], shape, mask, site); },
          {Random({target_rows, keys}), Random({source_rows, keys + values})}, "cross");
    }
  }
}

TEST(PackedAttentionTest, EqualsThePlainVersionWithABiasOfDistances) {
  torch::manual_seed(4);
  const torch::Tensor offsets = Offsets({1, 7, 0, 8, 17, 33, 3, 90});
  const int64_t rows = offsets[-1].item<int64_t>();
  for (const HeadShape& shape : {HeadShape{1, 8, 8}, HeadShape{4, 32, 32}, HeadShape{3, 5, 7}}) {
    const int64_t width = shape.heads * (2 * shape.key_width + shape.value_width);
    for (const DropoutSite& site : {kNone, kSome}) {
      for (const bool causal : {false, true}) {
        for (const int64_t window : {0, 6, 40}) {
          const auto with = [&](auto attention) {
            return [&, attention](const Tensors& x) {
              auto mask = AttentionMask::Packed(offsets, offsets, causal).Near(window);
              mask.bias_HN = x[1];
              return attention(x[0], torch::Tensor(), shape, mask, site);
            };
          };
          // As many distances as the longest sentence has, and more.
          for (const int64_t distances : {179, 201}) {
            ExpectEqual(with(PackedAttention), with(PlainPackedAttention),
                        {Random({rows, width}), Random({shape.heads, distances})}, "biased");
          }
        }
      }
    }
  }
}

TEST(PackedAttentionTest, BiasesThatDoNotFitAreErrors) {
  const HeadShape shape{2, 4, 4};
  const torch::Tensor offsets = Offsets({2, 3});
  const auto attend = [&](int64_t heads, int64_t distances) {
    auto mask = AttentionMask::Packed(offsets, offsets, false);
    mask.bias_HN = torch::zeros({heads, distances});
    return PackedAttention(torch::randn({5, 24}), {}, shape, mask, kNone);
  };
  EXPECT_NO_THROW(attend(2, 5));
  EXPECT_THROW(attend(1, 5), Error);
  EXPECT_THROW(attend(2, 3), Error);
  EXPECT_THROW(attend(2, 6), Error);
}

TEST(PackedAttentionTest, OffsetsThatDoNotFitAreErrors) {
  const HeadShape shape{2, 4, 4};
  const torch::Tensor query = torch::randn({5, 8}), memory = torch::randn({7, 16});
  const torch::Tensor queries = Offsets({2, 3}), keys = Offsets({3, 4});
  const auto attend = [&](const torch::Tensor& query_offsets, const torch::Tensor& key_offsets) {
    const auto mask = AttentionMask::Packed(query_offsets, key_offsets, false);
    return PackedAttention(query, memory, shape, mask, kNone);
  };
  EXPECT_NO_THROW(attend(queries, keys));
  EXPECT_THROW(attend(Offsets({2, 4}), keys), Error);
  EXPECT_THROW(attend(queries, Offsets({3, 3})), Error);
  EXPECT_THROW(attend(torch::tensor({0, 7, 5}), keys), Error);
  EXPECT_THROW(attend(Offsets({2, 1, 2}), keys), Error);
}

}  // namespace
}  // namespace attend::nn
