#include "attend/nn/linear_layer.h"

#include <cmath>

namespace attend::nn {
namespace {

bool IsAdapted(const std::string& name, AdaptedMatrices matrices) {
  if (name.find(".layers.") == name.npos) return false;
  return matrices == AdaptedMatrices::kAll || name.ends_with(".query") || name.ends_with(".value");
}

}  // namespace

LinearLayerImpl::LinearLayerImpl(int64_t in, int64_t out, bool with_bias)
    : LinearImpl(torch::nn::LinearOptions(in, out).bias(with_bias)) {}

void LinearLayerImpl::AddAdapter(const AdapterShape& shape, const torch::Generator& generator) {
  const int64_t in = weight.size(1);
  const torch::Tensor a =
      torch::randn({shape.rank, in}, generator) / std::sqrt(static_cast<double>(in));
  adapter_a = register_parameter("adapter_a", a.to(weight.options()).detach());
  adapter_b =
      register_parameter("adapter_b", torch::zeros({weight.size(0), shape.rank}, weight.options()));
  adapter_scale = shape.scale();
}

torch::Tensor LinearLayerImpl::Weight() const {
  return adapted() ? torch::addmm(weight, adapter_b, adapter_a, 1, adapter_scale) : weight;
}

bool IsAdapterB(const std::string& parameter) { return parameter.ends_with(".adapter_b"); }

bool IsOfAdapter(const std::string& parameter) {
  return IsAdapterB(parameter) || parameter.ends_with(".adapter_a");
}

void AddAdapters(torch::nn::Module* module, const AdapterShape& shape, uint64_t seed,
                 bool train_head) {
  for (auto& parameter : module->named_parameters())
    parameter.value().set_requires_grad(train_head && parameter.key().starts_with("head."));
  const torch::Generator generator = at::detail::createCPUGenerator(seed);
  for (const auto& part : module->named_modules()) {
    auto* layer = part.value()->as<LinearLayerImpl>();
    if (layer != nullptr && IsAdapted(part.key(), shape.matrices))
      layer->AddAdapter(shape, generator);
  }
}

}  // namespace attend::nn
