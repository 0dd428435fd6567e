#include "nn/bf16_products.h"

#include <ATen/autocast_mode.h>

namespace attend::nn {
Bf16Products::Bf16Products(const torch::Device& device, bool on)
    : device_(device.type()),
      was_on_(at::autocast::is_autocast_enabled(device_)),
      was_cached_(at::autocast::is_autocast_cache_enabled()),
      type_before_(at::autocast::get_autocast_dtype(device_)) {
  if (!on) return;
  at::autocast::set_autocast_dtype(device_, torch::kBFloat16);
  at::autocast::set_autocast_cache_enabled(false);
  at::autocast::set_autocast_enabled(device_, true);
}

Bf16Products::~Bf16Products() {
  at::autocast::set_autocast_enabled(device_, was_on_);
  at::autocast::set_autocast_cache_enabled(was_cached_);
  at::autocast::set_autocast_dtype(device_, type_before_);
}

torch::ScalarType ProductType(const torch::Tensor& x) {
  const c10::DeviceType device = x.device().type();
  if (x.scalar_type() == torch::kFloat64) return torch::kFloat64;  // which autocast leaves alone
  return at::autocast::is_autocast_enabled(device) ? at::autocast::get_autocast_dtype(device)
                                                   : x.scalar_type();
}

}  // namespace attend::nn
