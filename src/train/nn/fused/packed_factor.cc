#include "train/nn/fused/packed_factor.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "train/nn/fused/select_kernels.h"

namespace attend::nn {
namespace {

// What one thread takes at least.
constexpr int64_t kGrainRows = 128, kGrainPanels = 16;

// Element (i, j) is at data[i * row + j * column]; one of the two is 1.
template <class Element>
struct Matrix {
  const Element* data;
  int64_t row, column;
  int64_t rows, columns;
};

template <class Element>
Matrix<Element> MatrixOf(const torch::Tensor& x) {
  return {x.const_data_ptr<Element>(), x.stride(0), x.stride(1), x.size(0), x.size(1)};
}

// `x` itself where its rows or its columns lie side by side in memory.
torch::Tensor Ordered(const torch::Tensor& x) {
  return x.stride(0) == 1 || x.stride(1) == 1 ? x : x.contiguous();
}

torch::Tensor Bytes(int64_t count) { return torch::empty({count}, torch::kUInt8); }

// The panel of the columns from `first` on.
template <class Element>
void PackPanel(const Matrix<Element>& b, int64_t first, int64_t panel_columns, Element* packed) {
  constexpr int64_t kBlock = 16;  // rows that are gathered at a time from columns in memory
  const int64_t width = std::min(panel_columns, b.columns - first);
  if (width < panel_columns) std::fill_n(packed, b.rows * panel_columns, Element{});
  const Element* from = b.data + first * b.column;
  if (b.column == 1) {
    for (int64_t k = 0; k < b.rows; ++k)
      std::copy_n(from + k * b.row, width, packed + k * panel_columns);
    return;
  }
  for (int64_t block = 0; block < b.rows; block += kBlock) {
    const int64_t end = std::min(block + kBlock, b.rows);
    for (int64_t c = 0; c < width; ++c) {
      for (int64_t k = block; k < end; ++k)
        packed[k * panel_columns + c] = from[k * b.row + c * b.column];
    }
  }
}

template <class Element>
torch::Tensor Pack(const Matrix<Element>& b, int64_t panel_columns) {
  const int64_t panels = (b.columns + panel_columns - 1) / panel_columns;
  const int64_t panel_size = b.rows * panel_columns;
  const torch::Tensor packed = Bytes(panels * panel_size * int64_t{sizeof(Element)});
  auto* to = static_cast<Element*>(packed.mutable_data_ptr());
  at::parallel_for(0, panels, kGrainPanels, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel)
      PackPanel(b, panel * panel_columns, panel_columns, to + panel * panel_size);
  });
  return packed;
}

// The distance of columns, `rows` elements of four bytes each, that lie apart in memory: whole
// pages apart they would all fall into one place of a cache.
int64_t ColumnDistance(int64_t rows) {
  constexpr int64_t kPage = 1024, kLine = 16;
  return rows % kPage == 0 ? rows + kLine : rows;
}

// A matrix rounded to bf16, its columns in pairs.
struct Pairs {
  torch::Tensor memory;
  Matrix<Bf16Pair> matrix;
};

Pairs PairUp(const torch::Tensor& given) {
  const TrainKernels<float>& kernels = SelectTrainKernels<float>();
  const torch::Tensor ordered = Ordered(given);
  const Matrix<float> x = MatrixOf<float>(ordered);
  const int64_t pairs = (x.columns + 1) / 2, distance = ColumnDistance(x.rows);
  const torch::Tensor memory = Bytes(distance * pairs * int64_t{sizeof(Bf16Pair)});
  auto* to = static_cast<Bf16Pair*>(memory.mutable_data_ptr());
  if (x.column == 1) {
    at::parallel_for(0, x.rows, kGrainRows, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        kernels.pair_columns(x.data + r * x.row, x.columns, to + r * pairs);
    });
    return {memory, {to, pairs, 1, x.rows, pairs}};
  }
  at::parallel_for(0, pairs, kGrainRows, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const float* even = x.data + 2 * p * x.column;
      kernels.pair_rows(even, 2 * p + 1 < x.columns ? even + x.column : nullptr, x.rows,
                        to + p * distance);
    }
  });
  return {memory, {to, 1, distance, x.rows, pairs}};
}

// `x`, with columns whole pages apart moved to others.
torch::Tensor Spread(const torch::Tensor& x) {
  const int64_t distance = ColumnDistance(x.stride(1));
  const bool columns_lie_together = x.stride(0) == 1 && x.stride(1) >= x.size(0);
  if (!columns_lie_together || distance == x.stride(1)) return x;
  return torch::empty_strided(x.sizes(), {1, distance}, x.options()).copy_(x);
}

template <class Real>
void RunProduct(const ProductArguments<Real, Real>& a) {
  SelectTrainKernels<Real>().product(a);
}

void RunProduct(const ProductArguments<float, Bf16Pair>& a) {
  SelectTrainKernels<float>().bf16_product(a);
}

void CheckFit(bool fits, const char* what, const torch::Tensor& a, const torch::Tensor& b) {
  if (fits) return;
  throw Error(ErrorKind::kUsage, fmt::format("a product's {} do not fit: {} of {}, {} of {}", what,
                                             c10::str(a.sizes()), c10::toString(a.scalar_type()),
                                             c10::str(b.sizes()), c10::toString(b.scalar_type())));
}

}  // namespace

bool HasProductKernels(const torch::Tensor& x, torch::ScalarType type) {
  if (!HasKernels(x)) return false;
  return type == torch::kFloat64 || SelectTrainKernels<float>().bf16_product != nullptr;
}

PackedFactor::PackedFactor(const torch::Tensor& b_KN, torch::ScalarType type)
    : type_(type), b_KN_(b_KN), inner_(b_KN.size(0)) {
  if (!HasProductKernels(b_KN, type)) {
    b_KN_ = b_KN.to(type);
    return;
  }
  if (type == torch::kBFloat16) {
    const Pairs pairs = PairUp(b_KN.t());
    const Matrix<Bf16Pair>& b = pairs.matrix;
    inner_ = b.columns;
    packed_ = Pack(Matrix<Bf16Pair>{b.data, b.column, b.row, b.columns, b.rows},
                   SelectTrainKernels<float>().panel_columns);
    return;
  }
  const torch::Tensor ordered = Ordered(b_KN);
  WithReal(ordered, [&](auto real) {
    using Real = decltype(real);
    packed_ = Pack(MatrixOf<Real>(ordered), SelectTrainKernels<Real>().panel_columns);
  });
}

void PackedFactor::Multiply(const torch::Tensor& a_RK, const torch::Tensor& result_RN,
                            const torch::Tensor& bias_N) const {
  MultiplyInto(a_RK, {result_RN, bias_N, /*add=*/false});
}

void PackedFactor::MultiplyAdd(const torch::Tensor& a_RK, const torch::Tensor& result_RN) const {
  MultiplyInto(a_RK, {result_RN, {}, /*add=*/true});
}

void PackedFactor::MultiplyInto(const torch::Tensor& a_RK, const Target& target) const {
  const auto& [result_RN, bias_N, add] = target;
  CheckFit(a_RK.dim() == 2 && a_RK.size(1) == b_KN_.size(0), "factors", a_RK, b_KN_);
  if (!packed_.defined()) return RunTorch(a_RK, target);
  CheckFit(a_RK.scalar_type() == b_KN_.scalar_type(), "factors", a_RK, b_KN_);
  CheckFit(result_RN.dim() == 2 && result_RN.size(0) == a_RK.size(0) &&
               result_RN.size(1) == b_KN_.size(1) && result_RN.stride(1) == 1 &&
               result_RN.scalar_type() == a_RK.scalar_type(),
           "left factor and result", a_RK, result_RN);
  CheckFit(!bias_N.defined() ||
               (bias_N.numel() == b_KN_.size(1) && bias_N.scalar_type() == b_KN_.scalar_type()),
           "right factor and bias", b_KN_, bias_N);
  if (type_ == torch::kBFloat16) {
    const Pairs pairs = PairUp(a_RK);
    return RunKernels(pairs.matrix.data, {pairs.matrix.row, pairs.matrix.column}, target);
  }
  const torch::Tensor a = Spread(a_RK);
  WithReal(a,
           [&](auto real) { RunKernels(a.const_data_ptr<decltype(real)>(), a.strides(), target); });
}

template <class Element>
void PackedFactor::RunKernels(const Element* a, at::IntArrayRef strides,
                              const Target& target) const {
  using Real = std::conditional_t<std::is_same_v<Element, double>, double, float>;
  const torch::Tensor& result_RN = target.result_RN;
  ProductArguments<Real, Element> all{};
  all.inner = inner_;
  all.columns = b_KN_.size(1);
  all.a_row = strides[0];
  all.a_column = strides[1];
  all.packed = static_cast<const Element*>(packed_.const_data_ptr());
  const torch::Tensor bias = target.bias_N.defined() ? target.bias_N.contiguous() : torch::Tensor();
  if (bias.defined()) all.bias = bias.const_data_ptr<Real>();
  all.add = target.add;
  all.c_stride = result_RN.stride(0);
  Real* const c = result_RN.mutable_data_ptr<Real>();
  at::parallel_for(0, result_RN.size(0), kGrainRows, [&](int64_t begin, int64_t end) {
    ProductArguments<Real, Element> part = all;
    part.rows = end - begin;
    part.a = a + begin * part.a_row;
    part.c = c + begin * part.c_stride;
    RunProduct(part);
  });
}

void PackedFactor::RunTorch(const torch::Tensor& a_RK, const Target& target) const {
  const torch::Tensor a = a_RK.to(type_);
  const auto& [result_RN, bias_N, add] = target;
  if (add && result_RN.scalar_type() == type_) {
    result_RN.addmm_(a, b_KN_);
  } else if (add) {
    result_RN.add_(torch::mm(a, b_KN_));
  } else if (result_RN.scalar_type() == type_) {
    torch::Tensor result = result_RN;
    torch::mm_out(result, a, b_KN_);
  } else {
    result_RN.copy_(torch::mm(a, b_KN_));
  }
  if (bias_N.defined()) result_RN.add_(bias_N);
}

}  // namespace attend::nn
