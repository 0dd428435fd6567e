#include "kernels/inference/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "attend/error.h"
#include "base/random.h"
#include "kernels/inference/dispatch.h"
#include "kernels/inference/kernels_fixture.h"

namespace attend {
namespace {

constexpr MatmulActivation kActivations[] = {MatmulActivation::kNone, MatmulActivation::kRelu,
                                             MatmulActivation::kGelu, MatmulActivation::kGeluTanh,
                                             MatmulActivation::kSilu};

double Activated(double x, MatmulActivation activation) {
  if (activation == MatmulActivation::kRelu) return std::max(0.0, x);
  if (activation == MatmulActivation::kGelu) return x / 2 * (1 + std::erf(x / std::sqrt(2)));
  if (activation == MatmulActivation::kGeluTanh) {
    const double u = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
    return x / 2 * (1 + std::tanh(u));
  }
  return activation == MatmulActivation::kSilu ? x / (1 + std::exp(-x)) : x;
}

struct Product {
  int64_t rows, inner, columns;
  MatmulActivation activation = MatmulActivation::kNone;
  bool bias = true, residual = true;

  std::vector<float> X(int64_t count) const { return RandomFloats(count * inner, 1); }
  std::vector<float> W() const { return RandomFloats(columns * inner, 2); }
  std::vector<float> Bias() const { return RandomFloats(columns, 3); }
  std::vector<float> Residual(int64_t count) const { return RandomFloats(count * columns, 4); }

  std::vector<double> Formula() const {
    const auto x = X(rows), w = W(), b = Bias(), added = Residual(rows);
    std::vector<double> y;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        double sum = bias ? b[c] : 0;
        for (int64_t k = 0; k < inner; ++k) sum += double{x[r * inner + k]} * w[c * inner + k];
        y.push_back(Activated(sum, activation) + (residual ? added[r * columns + c] : 0));
      }
    }
    return y;
  }
};

std::vector<float> Multiply(const KernelTable& kernels, const Product& p, int64_t first_row = 0) {
  const auto x = p.X(first_row + p.rows), w = p.W(), bias = p.Bias();
  const auto residual = p.Residual(first_row + p.rows);
  std::vector<float> packed(kernels.packed_size_f32(p.columns, p.inner));
  kernels.pack_f32(w.data(), p.columns, p.inner, packed.data());
  std::vector<float> y(p.rows * p.columns + 1, 7.0f);
  const float* added = p.residual ? residual.data() + first_row * p.columns : nullptr;
  kernels.matmul_f32(
      {x.data() + first_row * p.inner,
       p.inner,
       p.rows,
       packed.data(),
       p.inner,
       {0, p.columns, p.bias ? bias.data() : nullptr, added, y.data(), p.columns, p.activation}});
  EXPECT_EQ(y.back(), 7.0f) << "written past the end";
  y.pop_back();
  return y;
}

TEST_P(KernelsTest, TheForcedSetIsTheActiveOne) {
  EXPECT_EQ(kernels_.name, GetParam());
  setenv("ATTEND_ISA", GetParam().c_str(), 1);
  EXPECT_EQ(SelectKernels().name, GetParam());
  unsetenv("ATTEND_ISA");
}

TEST_P(KernelsTest, MatmulEqualsTheFormulaAndTheReference) {
  for (const int64_t columns : {1, 7, 8, 15, 16, 17, 31, 32, 33, 47, 48, 65}) {
    for (const int64_t inner : {1, 5, 64}) {
      for (const auto activation : kActivations) {
        Product p{13, inner, columns, activation, columns % 2 == 0, inner != 5};
        const std::vector<float> y = Multiply(kernels_, p);
        ExpectNear(y, p.Formula(), 2e-6 * std::sqrt(inner));
        EXPECT_EQ(y, Multiply(reference_, p));
      }
    }
  }
}

TEST_P(KernelsTest, ARowDoesNotDependOnTheOthers) {
  const Product all{30, 67, 70, MatmulActivation::kGelu};
  const std::vector<float> whole = Multiply(kernels_, all);
  for (int64_t rows = 1; rows <= 29; ++rows) {
    for (const int64_t first : {int64_t{0}, 30 - rows}) {
      Product part = all;
      part.rows = rows;
      const std::vector<float> some = Multiply(kernels_, part, first);
      EXPECT_TRUE(std::equal(some.begin(), some.end(), whole.begin() + first * all.columns));
    }
  }
}

TEST_P(KernelsTest, ColumnsInPartsGiveTheSameBits) {
  const auto x = RandomFloats(5 * 33, 1), w = RandomFloats(100 * 33, 2);
  std::vector<float> packed(kernels_.packed_size_f32(100, 33)), whole(500), parts(500);
  kernels_.pack_f32(w.data(), 100, 33, packed.data());
  MatmulArguments a{
      x.data(),      33, 5,
      packed.data(), 33, {0, 100, nullptr, nullptr, whole.data(), 100, MatmulActivation::kNone}};
  kernels_.matmul_f32(a);
  for (int64_t first = 0; first < 100; first += kernels_.panel_columns) {
    a.output.first_column = first;
    a.output.last_column = std::min<int64_t>(100, first + kernels_.panel_columns);
    a.output.y = parts.data() + first;
    kernels_.matmul_f32(a);
  }
  EXPECT_EQ(whole, parts);
}

// Whole numbers as activations: a first value of 127 makes every row's scale 1.
struct Int8Product {
  int64_t rows, inner, columns;
  std::vector<float> x;
  std::vector<int8_t> w;

  Int8Product(int64_t r, int64_t i, int64_t c) : rows(r), inner(i), columns(c) {
    Random random({static_cast<uint64_t>(rows * 31 + inner * 7 + columns)});
    x.resize(rows * inner), w.resize(columns * inner);
    for (float& value : x) value = static_cast<float>(random.Below(255)) - 127;
    for (int64_t row = 0; row < rows; ++row) x[row * inner] = 127;
    for (int8_t& value : w) value = static_cast<int8_t>(static_cast<int>(random.Below(256)) - 128);
  }

  std::vector<int64_t> ExactSums() const {
    std::vector<int64_t> sums;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        sums.push_back(0);
        for (int64_t k = 0; k < inner; ++k) {
          sums.back() += static_cast<int64_t>(x[r * inner + k]) * w[c * inner + k];
        }
      }
    }
    return sums;
  }
};

struct Int8Result {
  std::vector<int32_t> sums;
  std::vector<float> y;
};

Int8Result Multiply(const KernelTable& kernels, const Int8Product& p,
                    MatmulActivation activation = MatmulActivation::kNone) {
  const auto w_scales = RandomFloats(p.columns, 2), bias = RandomFloats(p.columns, 3),
             residual = RandomFloats(p.rows * p.columns, 4);
  std::vector<uint8_t> rows(p.rows * kernels.quantized_row_size(p.inner) + 1, 99);
  std::vector<float> scales(p.rows);
  kernels.quantize_rows(p.x.data(), p.rows, p.inner, rows.data(), scales.data());
  EXPECT_EQ(rows.back(), 99) << "written past the end";
  std::vector<int8_t> packed(kernels.packed_size_int8(p.columns, p.inner) + 1, 99);
  kernels.pack_int8(p.w.data(), p.columns, p.inner, packed.data());
  EXPECT_EQ(packed.back(), 99) << "written past the end";
  Int8Result result{std::vector<int32_t>(p.rows * p.columns + 1, 7),
                    std::vector<float>(p.rows * p.columns + 1, 7.0f)};
  Int8MatmulArguments a{
      rows.data(),
      scales.data(),
      p.rows,
      packed.data(),
      w_scales.data(),
      p.inner,
      {0, p.columns, bias.data(), residual.data(), result.y.data(), p.columns, activation},
      nullptr};
  kernels.matmul_int8(a);
  a.sums = result.sums.data();
  kernels.matmul_int8(a);
  EXPECT_EQ(result.y.back(), 7.0f) << "written past the end";
  EXPECT_EQ(result.sums.back(), 7) << "written past the end";
  result.y.pop_back(), result.sums.pop_back();
  return result;
}

TEST_P(KernelsTest, Int8SumsAreExactAtAllShapes) {
  for (const int64_t rows : {1, 2, 5, 6, 7, 8, 9, 12, 13, 16, 17, 25}) {
    for (const int64_t inner : {1, 2, 3, 4, 5, 15, 16, 17, 64, 67, 128}) {
      for (const int64_t columns : {1, 8, 15, 16, 17, 31, 32, 33, 65}) {
        const Int8Product p(rows, inner, columns);
        const std::vector<int32_t> sums = Multiply(kernels_, p).sums;
        const std::vector<int64_t> want = p.ExactSums();
        ASSERT_TRUE(std::equal(sums.begin(), sums.end(), want.begin(), want.end()))
            << rows << " x " << inner << " x " << columns;
      }
    }
  }
}

TEST_P(KernelsTest, Int8SumsDoNotSaturate) {
  for (const int weight : {127, -128}) {
    for (const float value : {127.0f, -127.0f}) {
      Int8Product p(16, 4099, 33);
      std::fill(p.x.begin(), p.x.end(), value);
      std::fill(p.w.begin(), p.w.end(), static_cast<int8_t>(weight));
      for (const int32_t sum : Multiply(kernels_, p).sums) {
        ASSERT_EQ(sum, 4099 * weight * static_cast<int>(value));
      }
    }
  }
}

// The largest pairs that products in 16 bits can hold, and one step more, in one column or in all.
TEST_P(KernelsTest, Int8SumsAreExactWherePairsOfWeightsNearlySaturate) {
  constexpr int8_t kPairs[][2] = {{64, 64}, {127, 1}, {-128, 0}, {0, -128}, {-64, -64}, {63, -65}};
  for (const int64_t wide_column : {-1, 0, 16, 40}) {
    for (const float value : {127.0f, -127.0f}) {
      Int8Product p(16, 67, 41);
      for (int64_t at = 0; at < std::ssize(p.w); ++at) {
        const int64_t c = at / p.inner, k = at % p.inner;
        p.w[at] =
            c == wide_column ? static_cast<int8_t>(65 - k % 2) : kPairs[(c + k / 2) % 6][k % 2];
      }
      for (float& x : p.x) x = x < 100 ? value : x;
      const std::vector<int32_t> sums = Multiply(kernels_, p).sums;
      const std::vector<int64_t> want = p.ExactSums();
      ASSERT_TRUE(std::equal(sums.begin(), sums.end(), want.begin(), want.end())) << wide_column;
    }
  }
}

TEST_P(KernelsTest, Int8ResultsEqualTheReference) {
  for (const auto activation : kActivations) {
    const Int8Product p(13, 35, 47);
    EXPECT_EQ(Multiply(kernels_, p, activation).y, Multiply(reference_, p, activation).y);
  }
}

TEST_P(KernelsTest, ARowOfInt8DoesNotDependOnTheOthers) {
  const Int8Product all(30, 67, 70);
  const std::vector<float> whole = Multiply(kernels_, all).y;
  for (int64_t rows = 1; rows <= 29; ++rows) {
    Int8Product part = all;
    part.rows = rows;
    part.x.resize(rows * all.inner);
    const std::vector<float> some = Multiply(kernels_, part).y;
    EXPECT_TRUE(std::equal(some.begin(), some.end(), whole.begin()));
  }
}

TEST_P(KernelsTest, QuantizedRowsAreRoundedToTheirScale) {
  // A product with the unit matrix gives the quantised values back.
  for (const int64_t inner : {1, 7, 8, 9, 16, 33}) {
    Int8Product p(3, inner, inner);
    p.x = RandomFloats(3 * inner, 11);
    std::fill(p.x.begin() + inner, p.x.begin() + 2 * inner, 0.0f);
    std::fill(p.w.begin(), p.w.end(), int8_t{0});
    for (int64_t k = 0; k < inner; ++k) p.w[k * inner + k] = 1;
    const std::vector<int32_t> values = Multiply(kernels_, p).sums;
    for (int64_t r = 0; r < 3; ++r) {
      double largest = 0;
      for (int64_t k = 0; k < inner; ++k) {
        largest = std::max(largest, std::abs(double{p.x[r * inner + k]}));
      }
      for (int64_t k = 0; k < inner; ++k) {
        const double want = largest > 0 ? p.x[r * inner + k] / largest * 127 : 0;
        EXPECT_NEAR(values[r * inner + k], want, 0.5001);
      }
    }
  }
}

TEST_P(KernelsTest, ANumberThatIsNotFiniteSpoilsItsInt8RowAndNoOther) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    for (const int64_t place : {0, 8, 16, 34}) {
      Int8Product p(3, 35, 33);
      const std::vector<float> good = Multiply(kernels_, p).y;
      p.x[35 + place] = bad;
      const std::vector<float> y = Multiply(kernels_, p, MatmulActivation::kRelu).y;
      for (int64_t c = 0; c < 33; ++c) EXPECT_TRUE(std::isnan(y[33 + c]));
      const std::vector<float> other = Multiply(kernels_, p).y;
      EXPECT_TRUE(std::equal(other.begin(), other.begin() + 33, good.begin()));
      EXPECT_TRUE(std::equal(other.begin() + 66, other.end(), good.begin() + 66));
    }
  }
}

TEST_P(KernelsTest, EmbedInt8EqualsTheReferenceAtAllLengths) {
  for (int64_t n = 1; n <= 40; ++n) {
    const Int8Product p(1, n, 1);
    const auto position = RandomFloats(n, 5);
    std::vector<float> got(n + 1, 9), want(n + 1, 9);
    kernels_.embed_int8(p.w.data(), 0.3f, position.data(), n, got.data());
    reference_.embed_int8(p.w.data(), 0.3f, position.data(), n, want.data());
    EXPECT_EQ(got, want);
    for (int64_t i = 0; i < n; ++i) EXPECT_NEAR(got[i], p.w[i] * 0.3 + position[i], 1e-5);
  }
}

// The formulas of functions of a row, y = f(x).
std::vector<double> LayerNormed(const std::vector<float>& x, const std::vector<float>& gain,
                                const std::vector<float>& bias) {
  const auto n = static_cast<double>(x.size());
  double mean = 0, variance = 0;
  for (const float value : x) mean += value / n;
  for (const float value : x) variance += (value - mean) * (value - mean) / n;
  std::vector<double> y;
  for (size_t i = 0; i < x.size(); ++i) {
    y.push_back((x[i] - mean) / std::sqrt(variance + 1e-6) * gain[i] + bias[i]);
  }
  return y;
}

std::vector<double> RmsNormed(const std::vector<float>& x, const std::vector<float>& gain) {
  double square = 0;
  for (const float value : x) square += double{value} * value / static_cast<double>(x.size());
  std::vector<double> y;
  for (size_t i = 0; i < x.size(); ++i) y.push_back(x[i] / std::sqrt(square + 1e-6) * gain[i]);
  return y;
}

TEST_P(KernelsTest, RowFunctionsEqualTheirFormulasAndTheReferenceAtAllLengths) {
  for (int64_t n = 1; n <= 70; ++n) {
    const auto x = RandomFloats(n, 5, 3), gain = RandomFloats(n, 6), bias = RandomFloats(n, 7);
    const auto compare = [&](auto function, const std::vector<double>& formula, double tolerance) {
      std::vector<float> got = x, want = x;
      got.push_back(9), want.push_back(9);
      function(kernels_, got.data());
      function(reference_, want.data());
      EXPECT_EQ(got, want);
      EXPECT_EQ(got.back(), 9) << "written past the end";
      got.pop_back();
      ExpectNear(got, formula, tolerance);
    };
    const auto each = [&](auto formula) {
      std::vector<double> y;
      for (int64_t i = 0; i < n; ++i) y.push_back(formula(i));
      return y;
    };
    compare([&](const KernelTable& k,
                float* y) { k.layer_norm({x.data(), 1, n, gain.data(), bias.data(), 1e-6f, y}); },
            LayerNormed(x, gain, bias), 3e-5);
    compare([&](const KernelTable& k,
                float* y) { k.rms_norm({y, 1, n, gain.data(), nullptr, 1e-6f, y}); },
            RmsNormed(x, gain), 3e-6);
    compare([&](const KernelTable& k, float* y) { k.softmax(y, n); }, Softmaxed(x), 1e-6);
    compare([&](const KernelTable& k, float* y) { k.multiply(gain.data(), y, n); },
            each([&](int64_t i) { return double{gain[i]} * x[i]; }), 1e-6);
    std::vector<float> states(n), others(n);
    const auto keep = [&](int64_t i) { return 1 / (1 + std::exp(-double{gain[i]})); };
    const auto state = [&](int64_t i) { return keep(i) * bias[i] + (1 - keep(i)) * x[i]; };
    compare([&](const KernelTable& k,
                float* y) { k.recur(x.data(), gain.data(), bias.data(), n, states.data(), y); },
            each([&](int64_t i) { return std::max(0.0, state(i)); }), 1e-6);
    kernels_.recur(x.data(), gain.data(), bias.data(), n, others.data(), others.data());
    ExpectNear(states, each(state), 1e-6);
    compare([&](const KernelTable& k, float* y) { k.embed(gain.data(), 3, bias.data(), n, y); },
            each([&](int64_t i) { return gain[i] * 3.0 + bias[i]; }), 1e-6);
  }
}

// silu(x), as a product with 1 makes it.
float Silu(const KernelTable& kernels, float x) {
  const float one = 1;
  std::vector<float> packed(kernels.packed_size_f32(1, 1));
  kernels.pack_f32(&one, 1, 1, packed.data());
  float y = 0;
  kernels.matmul_f32(
      {&x, 1, 1, packed.data(), 1, {0, 1, nullptr, nullptr, &y, 1, MatmulActivation::kSilu}});
  return y;
}

// Falling powers of e as a soft-max has them, rising ones as silu does.
TEST_P(KernelsTest, ExpIsCloseOverItsWholeRange) {
  for (double x = 0; x <= 87; x += 0.0371) {
    const float below = static_cast<float>(-x);
    const double power = std::exp(double{below});
    float entries[] = {0, below};
    kernels_.softmax(entries, 2);
    EXPECT_NEAR(entries[1] * (1 + power) / power, 1, 6e-7) << below;
    EXPECT_NEAR(Silu(kernels_, below) * (1 + 1 / power), below, 6e-7 * x) << below;
  }
}

TEST_P(KernelsTest, TopKKeepsTheFirstOfEqualsAndLeavesOutTheForbidden) {
  for (const int64_t n : {1, 6, 8, 9, 15, 33, 100}) {
    std::vector<float> x = RandomFloats(n, 8);
    for (float& value : x) value = std::round(value * 2) / 2;       // many ties
    if (n > 4) x[n - 1] = -std::numeric_limits<float>::infinity();  // never among the best
    const std::vector<int32_t> forbidden = {0, 3};
    float values[3][5];
    int32_t ids[3][5];
    TopK best[3];  // the last without a sum
    for (int i = 0; i < 3; ++i) {
      const KernelTable& kernels = i == 1 ? reference_ : kernels_;
      best[i] = {values[i], ids[i], 5, 0, -std::numeric_limits<float>::infinity(), 0, i < 2};
      const int64_t half = n / 2;
      if (half > 0) kernels.top_k(x.data(), half, 0, forbidden.data(), 2, &best[i]);
      kernels.top_k(x.data() + half, n - half, static_cast<int32_t>(half), forbidden.data(), 2,
                    &best[i]);
    }
    std::vector<int32_t> order;
    double sum = 0;
    for (int32_t i = 0; i < n; ++i) {
      sum += std::exp(x[i]);
      if (i != 0 && i != 3 && std::isfinite(x[i])) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return x[a] > x[b]; });
    for (const TopK& top : best) {
      ASSERT_EQ(top.count, std::min<int64_t>(5, order.size()));
      for (int64_t i = 0; i < top.count; ++i) EXPECT_EQ(top.ids[i], order[i]);
      if (!top.with_sum) continue;
      EXPECT_NEAR(top.max + std::log(top.sum), std::log(sum), 1e-5);
      EXPECT_EQ(top.max, best[1].max);
      EXPECT_EQ(top.sum, best[1].sum);
    }
  }
}

TEST_P(KernelsTest, TopKWithoutASumTellsNumbersThatAreNone) {
  for (const int64_t at : {0, 7, 32}) {
    for (const KernelTable* kernels : {&kernels_, &reference_}) {
      std::vector<float> x = RandomFloats(33, 8);
      float value;
      int32_t id;
      TopK best = {&value, &id, 1, 0, -std::numeric_limits<float>::infinity(), 0, false};
      x[at] = -std::numeric_limits<float>::infinity();
      kernels->top_k(x.data(), 33, 0, nullptr, 0, &best);
      EXPECT_EQ(best.sum, 0);
      x[at] = std::numeric_limits<float>::quiet_NaN();
      kernels->top_k(x.data(), 33, 0, nullptr, 0, &best);
      EXPECT_TRUE(std::isnan(best.sum)) << at;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, KernelsTest, testing::ValuesIn(AvailableInstructionSets()),
                         [](const auto& info) { return info.param; });

TEST(DispatchTest, AnUnknownSetIsAnErrorThatNamesWhatThereIsAndWhereItCameFrom) {
  const auto message = [](const std::string& name) -> std::string {
    try {
      SelectKernels(name);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kConfiguration);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message("mmx").find("reference"), std::string::npos);
  EXPECT_EQ(message("mmx").find("ATTEND_ISA"), std::string::npos);
  setenv("ATTEND_ISA", "mmx", 1);
  EXPECT_NE(message("").find("unset ATTEND_ISA"), std::string::npos);
  unsetenv("ATTEND_ISA");
}

}  // namespace
}  // namespace attend
