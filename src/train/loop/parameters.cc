#include "train/loop/parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attend/error.h"
#include "attend/nn/linear_layer.h"

namespace attend {
namespace {

constexpr int64_t kAlignment = 16;  // elements: 64 bytes

// Of those that need a gradient.
FlatLayout LayoutOf(const torch::nn::Module& module, std::vector<torch::Tensor>* tensors) {
  FlatLayout layout;
  for (const auto& parameter : module.named_parameters()) {
    if (!parameter.value().requires_grad()) continue;
    tensors->push_back(parameter.value());
    layout.entries.push_back({parameter.key(), parameter.value().sizes().vec(), layout.size});
    layout.size += (parameter.value().numel() + kAlignment - 1) / kAlignment * kAlignment;
  }
  return layout;
}

// The tensor as LibTorch sees it, without a copy.
torch::Tensor Stored(const TensorTable& table, const std::string& name,
                     const std::vector<int64_t>& shape) {
  const TensorView& tensor = table.Get(name);
  if (tensor.type != TensorType::kF32 || tensor.shape != shape) {
    throw Error(ErrorKind::kInput,
                fmt::format("tensor '{}' is {} [{}], expected F32 [{}]", tensor.name,
                            TensorTypeName(tensor.type), fmt::join(tensor.shape, ", "),
                            fmt::join(shape, ", ")));
  }
  return torch::from_blob(const_cast<std::byte*>(tensor.data), shape, torch::kFloat32);
}

}  // namespace

torch::Tensor FlatLayout::View(const torch::Tensor& flat, const Entry& entry) {
  return flat.narrow(0, entry.offset, c10::multiply_integers(entry.shape)).view(entry.shape);
}

void FlatLayout::AddTo(TensorTable* table, const torch::Tensor& flat_on_cpu,
                       const std::string& prefix) const {
  const auto* data = reinterpret_cast<const std::byte*>(flat_on_cpu.const_data_ptr<float>());
  for (const Entry& entry : entries) {
    table->Add(
        {prefix + entry.name, TensorType::kF32, entry.shape, data + entry.offset * sizeof(float)});
  }
}

void FlatLayout::Read(const TensorTable& table, const std::string& prefix,
                      torch::Tensor* flat) const {
  for (const Entry& entry : entries) {
    View(*flat, entry).copy_(Stored(table, prefix + entry.name, entry.shape));
  }
}

void ReadParameters(const TensorTable& table, torch::nn::Module* module,
                    const std::vector<std::string>& but) {
  const torch::NoGradGuard no_grad;
  for (auto& parameter : module->named_parameters()) {
    const auto begins = [&](const std::string& prefix) {
      return parameter.key().starts_with(prefix);
    };
    if (std::ranges::any_of(but, begins)) continue;
    if (nn::IsAdapterB(parameter.key())) parameter.value().zero_();
    if (nn::IsOfAdapter(parameter.key())) continue;
    parameter.value().copy_(Stored(table, parameter.key(), parameter.value().sizes().vec()));
  }
}

int64_t CountParameters(const torch::nn::Module& module, bool trained) {
  int64_t count = 0;
  for (const torch::Tensor& each : module.parameters())
    count += trained && !each.requires_grad() ? 0 : each.numel();
  return count;
}

Parameters::Parameters(torch::nn::Module* module) : layout_(LayoutOf(*module, &tensors_)) {
  const torch::NoGradGuard no_grad;
  const auto options =
      torch::TensorOptions().dtype(torch::kFloat32).device(tensors_.at(0).device());
  weights_ = torch::zeros({layout_.size}, options);
  gradients_ = torch::zeros({layout_.size}, options);
  for (size_t i = 0; i < tensors_.size(); ++i) {
    torch::Tensor view = FlatLayout::View(weights_, layout_.entries[i]);
    view.copy_(tensors_[i]);
    tensors_[i].set_data(view);
  }
}

std::string Parameters::FirstNonFiniteGradient() const {
  for (const FlatLayout::Entry& entry : layout_.entries) {
    if (!FlatLayout::View(gradients_, entry).isfinite().all().item<bool>()) return entry.name;
  }
  return "";
}

}  // namespace attend
