#include "nn/fused/packed_factor.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "nn/fused/fused_function.h"

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
  if (type == torch::kBFloat16) return SelectTrainKernels<float>().bf16_product != nullptr;
  return type == torch::kFloat64 || SelectTrainKernels<float>().product != nullptr;
}

PackedFactor::PackedFactor(const torch::Tensor& b_DE, torch::ScalarType type)
    : type_(type), b_DE_(b_DE), inner_(b_DE.size(0)) {
  if (!HasProductKernels(b_DE, type)) {
    b_DE_ = b_DE.to(type);
    return;
  }
  if (type == torch::kBFloat16) {
    const Pairs pairs = PairUp(b_DE.t());
    const Matrix<Bf16Pair>& b = pairs.matrix;
    inner_ = b.columns;
    packed_ = Pack(Matrix<Bf16Pair>{b.data, b.column, b.row, b.columns, b.rows},
                   SelectTrainKernels<float>().panel_columns);
    return;
  }
  const torch::Tensor ordered = Ordered(b_DE);
  WithReal(ordered, [&](auto real) {
    using Real = decltype(real);
    packed_ = Pack(MatrixOf<Real>(ordered), SelectTrainKernels<Real>().panel_columns);
  });
}

void PackedFactor::Multiply(const torch::Tensor& a_RD, const torch::Tensor& result_RE,
                            const torch::Tensor& bias_E) const {
  MultiplyInto(a_RD, {result_RE, bias_E, /*add=*/false});
}

void PackedFactor::MultiplyAdd(const torch::Tensor& a_RD, const torch::Tensor& result_RE) const {
  MultiplyInto(a_RD, {result_RE, {}, /*add=*/true});
}

void PackedFactor::MultiplyInto(const torch::Tensor& a_RD, const Target& target) const {
  const auto& [result_RE, bias_E, add] = target;
  CheckFit(a_RD.dim() == 2 && a_RD.size(1) == b_DE_.size(0), "factors", a_RD, b_DE_);
  CheckFit(result_RE.dim() == 2 && result_RE.size(0) == a_RD.size(0) &&
               result_RE.size(1) == b_DE_.size(1) && result_RE.stride(1) == 1,
           "left factor and result", a_RD, result_RE);
  CheckFit(!bias_E.defined() || bias_E.numel() == b_DE_.size(1), "right factor and bias", b_DE_,
           bias_E);
  if (!packed_.defined()) return RunTorch(a_RD, target);
  for (const torch::Tensor* each : {&a_RD, &result_RE, &bias_E}) {
    CheckFit(!each->defined() || each->scalar_type() == b_DE_.scalar_type(), "types", *each, b_DE_);
  }
  if (type_ == torch::kBFloat16) {
    const Pairs pairs = PairUp(a_RD);
    return RunKernels(pairs.matrix.data, {pairs.matrix.row, pairs.matrix.column}, target);
  }
  const torch::Tensor a = Spread(a_RD);
  WithReal(a,
           [&](auto real) { RunKernels(a.const_data_ptr<decltype(real)>(), a.strides(), target); });
}

template <class Element>
void PackedFactor::RunKernels(const Element* a, at::IntArrayRef strides,
                              const Target& target) const {
  using Real = std::conditional_t<std::is_same_v<Element, double>, double, float>;
  const torch::Tensor& result_RE = target.result_RE;
  ProductArguments<Real, Element> all{};
  all.inner = inner_;
  all.columns = b_DE_.size(1);
  all.a_row = strides[0];
  all.a_column = strides[1];
  all.packed = static_cast<const Element*>(packed_.const_data_ptr());
  const std::optional<torch::Tensor> bias = IfDefined(target.bias_E);
  if (bias) all.bias = bias->const_data_ptr<Real>();
  all.add = target.add;
  all.c_stride = result_RE.stride(0);
  Real* const c = result_RE.mutable_data_ptr<Real>();
  at::parallel_for(0, result_RE.size(0), kGrainRows, [&](int64_t begin, int64_t end) {
    ProductArguments<Real, Element> part = all;
    part.rows = end - begin;
    part.a = a + begin * part.a_row;
    part.c = c + begin * part.c_stride;
    RunProduct(part);
  });
}

void PackedFactor::RunTorch(const torch::Tensor& a_RD, const Target& target) const {
  const torch::Tensor a = a_RD.to(type_);
  const auto& [result_RE, bias_E, add] = target;
  if (add && result_RE.scalar_type() == type_) {
    result_RE.addmm_(a, b_DE_);
  } else if (add) {
    result_RE.add_(torch::mm(a, b_DE_));
  } else if (result_RE.scalar_type() == type_) {
    torch::Tensor result = result_RE;
    torch::mm_out(result, a, b_DE_);
  } else {
    result_RE.copy_(torch::mm(a, b_DE_));
  }
  if (bias_E.defined()) result_RE.add_(bias_E);
}

}  // namespace attend::nn
