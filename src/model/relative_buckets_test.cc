#include "model/relative_buckets.h"

#include <gtest/gtest.h>

#include <vector>

namespace attend {
namespace {

std::vector<int64_t> Of(const RelativeBuckets& buckets, const std::vector<int64_t>& distances) {
  std::vector<int64_t> found;
  for (const int64_t distance : distances) found.push_back(buckets.Of(distance));
  return found;
}

// As T5Attention of transformers gives them for 32 buckets and 128.
TEST(RelativeBucketsTest, AreTransformers) {
  const StackConfig config;
  const RelativeBuckets encoder(config, true), decoder(config, false);
  const std::vector<int64_t> distances = {0,   -1,  -7,  -8,  -11, -12, -15,  -16,  -22, -23,
                                          -31, -32, -45, -46, -63, -64, -127, -128, -999};
  EXPECT_EQ(Of(encoder, distances), (std::vector<int64_t>{0, 1, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12,
                                                          12, 13, 13, 14, 15, 15, 15}));
  EXPECT_EQ(Of(decoder, distances), (std::vector<int64_t>{0, 1, 7, 8, 11, 12, 15, 16, 18, 18, 21,
                                                          21, 23, 24, 26, 26, 31, 31, 31}));
  EXPECT_EQ(encoder.Of(5), 16 + 5);
  EXPECT_EQ(encoder.Of(64), 16 + encoder.Of(-64));
  EXPECT_EQ(decoder.Of(5), 0);
}

}  // namespace
}  // namespace attend
