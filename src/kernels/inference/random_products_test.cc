// Products of random shapes, columns and endings: each instruction set against the reference, to
// the bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "kernels/inference/dispatch.h"
#include "kernels/inference/kernels_fixture.h"

namespace attend {
namespace {

constexpr int64_t kColumnUnit = 32;  // of first columns: a multiple of every set's panel_columns
constexpr int kProducts = 400, kLargeProducts = 12;

struct RandomProduct {
  int64_t rows, inner, columns, first, last, stride;
  MatmulActivation activation;
  std::vector<float> x, scales, bias, residual;
  std::vector<int8_t> w8;
  std::vector<float> w;
  bool has_bias, has_residual;

  // Large: of more rows, columns and inner positions than pass through the caches together.
  RandomProduct(uint64_t seed, bool large) {
    Random random({seed});
    const auto from_one = [&](uint64_t most) {
      return 1 + static_cast<int64_t>(random.Below(most));
    };
    rows = from_one(30), inner = from_one(200), columns = from_one(150);
    if (large) rows += from_one(300), inner += from_one(2200), columns += from_one(100);
    if (random.Below(3) == 0) inner = (inner + 63) / 64 * 64;  // which tiles of AMX divide
    first = static_cast<int64_t>(random.Below((columns - 1) / kColumnUnit + 1)) * kColumnUnit;
    last = first + from_one(columns - first);
    stride = last - first + static_cast<int64_t>(random.Below(3));
    activation = std::array{MatmulActivation::kNone, MatmulActivation::kRelu,
                            MatmulActivation::kGelu}[random.Below(3)];
    has_bias = random.Below(2) == 1, has_residual = random.Below(2) == 1;
    const auto floats = [&](int64_t count) { return RandomFloats(count, &random); };
    x = floats(rows * inner), w = floats(columns * inner);
    scales = floats(columns), bias = floats(columns), residual = floats(rows * stride);
    w8.resize(columns * inner);
    // Many pairs that saturate 16 bits in one product, none in another.
    const uint64_t half = random.Below(2) == 0 ? 128 : 64;
    for (int8_t& weight : w8) {
      weight = static_cast<int8_t>(static_cast<int64_t>(random.Below(2 * half)) -
                                   static_cast<int64_t>(half));
    }
  }

  MatmulOutput OutputTo(std::vector<float>* y) const {
    y->assign(rows * stride, -77.0f);  // what lies between rows stays
    return {first,
            last,
            has_bias ? bias.data() : nullptr,
            has_residual ? residual.data() : nullptr,
            y->data(),
            stride,
            activation};
  }

  std::vector<float> F32(const KernelTable& kernels) const {
    std::vector<float> packed(kernels.packed_size_f32(columns, inner)), y;
    kernels.pack_f32(w.data(), columns, inner, packed.data());
    kernels.matmul_f32({x.data(), inner, rows, packed.data(), inner, OutputTo(&y)});
    return y;
  }

  std::vector<float> Int8(const KernelTable& kernels) const {
    std::vector<uint8_t> quantized(rows * kernels.quantized_row_size(inner));
    std::vector<float> row_scales(rows), y;
    kernels.quantize_rows(x.data(), rows, inner, quantized.data(), row_scales.data());
    std::vector<int8_t> packed(kernels.packed_size_int8(columns, inner));
    kernels.pack_int8(w8.data(), columns, inner, packed.data());
    kernels.matmul_int8({quantized.data(), row_scales.data(), rows, packed.data(), scales.data(),
                         inner, OutputTo(&y), nullptr});
    return y;
  }
};

class RandomProductsTest : public KernelsTest {};

TEST_P(RandomProductsTest, EqualTheReferenceToTheBit) {
  for (int seed = 0; seed < kProducts + kLargeProducts; ++seed) {
    const RandomProduct p(seed, seed >= kProducts);
    ASSERT_EQ(p.F32(kernels_), p.F32(reference_)) << "f32, seed " << seed;
    ASSERT_EQ(p.Int8(kernels_), p.Int8(reference_)) << "int8, seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RandomProductsTest, testing::ValuesIn(AvailableInstructionSets()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace attend
