#include "engine/blocks/linear.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"

namespace attend {
namespace {

void CheckType(const TensorView& tensor, TensorType expected) {
  if (tensor.type == expected) return;
  throw Error(ErrorKind::kInput,
              fmt::format("tensor '{}' has type {}, expected {}", tensor.name,
                          TensorTypeName(tensor.type), TensorTypeName(expected)));
}

void Append(const TensorView& tensor, std::vector<float>* floats) {
  CheckType(tensor, TensorType::kF32);
  floats->insert(floats->end(), tensor.f32(), tensor.f32() + tensor.elements());
}

}  // namespace

Linear::Linear(const WeightSource& weights, const std::vector<std::string>& names,
               const std::string& bias_name)
    : kernels_(&weights.kernels) {
  const TensorType type = weights.Matrix(names[0]).type;
  const bool int8 = type == TensorType::kI8;
  if (!int8) CheckType(weights.Matrix(names[0]), TensorType::kF32);
  PackedMatrices::Stored stored;
  for (const std::string& name : names) {
    const TensorView& weight = weights.Matrix(name);
    CheckType(weight, type);
    inner_ = weight.shape.at(1);
    columns_ += weight.shape[0];
    stored.push_back(weight.data);
    if (int8) Append(weights.Matrix(name + "_scale"), &scales_);
    const std::string own = name.substr(0, name.rfind('.')) + ".bias";
    const TensorView* bias = weights.tensors.Find(bias_name.empty() ? own : bias_name);
    if (bias != nullptr) Append(*bias, &bias_);
  }
  if (weights.of_base != nullptr) packed_ = weights.of_base->Find(stored);
  if (packed_ != nullptr) return;
  std::vector<std::byte> joined;
  for (const std::string& name : names) {
    const TensorView& weight = weights.Matrix(name);
    if (names.size() > 1) joined.insert(joined.end(), weight.data, weight.data + weight.bytes());
  }
  std::byte* packed = weights.packed->Add(stored, PackedBytes(columns_));
  PackColumns(names.size() > 1 ? joined.data() : stored[0], columns_, packed);
  packed_ = packed;
}

size_t Linear::PackedBytes(int64_t columns) const {
  return scales_.empty() ? kernels_->packed_size_f32(columns, inner_) * sizeof(float)
                         : kernels_->packed_size_int8(columns, inner_);
}

void Linear::PackColumns(const std::byte* w, int64_t columns, std::byte* packed) const {
  if (scales_.empty()) {
    kernels_->pack_f32(reinterpret_cast<const float*>(w), columns, inner_,
                       reinterpret_cast<float*>(packed));
  } else {
    kernels_->pack_int8(reinterpret_cast<const int8_t*>(w), columns, inner_, packed);
  }
}

Linear Linear::Select(std::span<const int32_t> columns, const TensorView& stored,
                      PackedMemory* memory) const {
  Linear selected;
  selected.kernels_ = kernels_;
  selected.columns_ = std::ssize(columns);
  selected.inner_ = inner_;
  for (const int32_t column : columns) {
    if (!scales_.empty()) selected.scales_.push_back(scales_[column]);
    if (!bias_.empty()) selected.bias_.push_back(bias_[column]);
  }
  // Panel by panel, so that the rows in between stay in the first cache.
  const size_t row_bytes = inner_ * (scales_.empty() ? sizeof(float) : sizeof(int8_t));
  std::byte* packed = memory->Take(selected.PackedBytes(selected.columns_));
  selected.packed_ = packed;
  std::vector<std::byte> rows(kernels_->panel_columns * row_bytes);
  while (!columns.empty()) {
    const auto panel = columns.first(std::min<size_t>(columns.size(), kernels_->panel_columns));
    std::byte* to = rows.data();
    for (const int32_t column : panel) {
      to = std::copy_n(stored.data + column * row_bytes, row_bytes, to);
    }
    selected.PackColumns(rows.data(), std::ssize(panel), packed);
    packed += PackedBytes(kernels_->panel_columns);
    columns = columns.subspan(panel.size());
  }
  return selected;
}

Linear::Input Linear::Read(const float* x, int64_t rows, LinearScratch* scratch) const {
  if (scales_.empty()) return {x, nullptr, nullptr, rows, inner_, 0};
  const int64_t row_size = kernels_->quantized_row_size(inner_);
  const size_t size = rows * row_size;
  if (scratch->quantized.size() < size) scratch->quantized.resize(size);
  if (std::ssize(scratch->scales) < rows) scratch->scales.resize(rows);
  kernels_->quantize_rows(x, rows, inner_, scratch->quantized.data(), scratch->scales.data());
  return {x, scratch->quantized.data(), scratch->scales.data(), rows, inner_, row_size};
}

void Linear::Multiply(const Input& input, const MatmulOutput& output) const {
  if (scales_.empty()) {
    kernels_->matmul_f32(
        {input.x, inner_, input.rows, reinterpret_cast<const float*>(packed_), inner_, output});
  } else {
    kernels_->matmul_int8({input.quantized, input.scales, input.rows, packed_, scales_.data(),
                           inner_, output, nullptr});
  }
}

// Whole panels each, and enough of them to be worth it.
void Linear::Share(const Input& input, const MatmulOutput& output, Team* team) const {
  constexpr int64_t kColumns = 256, kLeastWeights = 1 << 17;
  const int64_t units = (output.last_column - output.first_column + kColumns - 1) / kColumns;
  const int64_t parts = team == nullptr ? 1 : std::min(team->size(), units);
  if (parts < 2 || units * kColumns * inner_ < kLeastWeights) {
    Multiply(input, output);
    return;
  }
  team->Run(parts, [&](int64_t part) {
    MatmulOutput some = output;
    const int64_t skipped = units * part / parts * kColumns;
    some.first_column += skipped;
    some.last_column =
        std::min(output.last_column, output.first_column + units * (part + 1) / parts * kColumns);
    some.y += skipped;
    if (some.residual != nullptr) some.residual += skipped;
    Multiply(input, some);
  });
}

void Linear::Apply(const float* x, int64_t rows, LinearScratch* scratch, float* y,
                   MatmulActivation activation, const float* residual) const {
  Share(Read(x, rows, scratch),
        {0, columns_, bias_.empty() ? nullptr : bias_.data(), residual, y, columns_, activation},
        scratch->team);
}

void Linear::ApplyColumns(const Input& input, int64_t first, int64_t last, LinearScratch* scratch,
                          float* y) const {
  Share(input,
        {first, last, bias_.empty() ? nullptr : bias_.data(), nullptr, y, last - first,
         MatmulActivation::kNone},
        scratch->team);
}

}  // namespace attend
