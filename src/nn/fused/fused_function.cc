#include "nn/fused/fused_function.h"

#include <fmt/format.h>

#include "attend/error.h"

namespace attend::nn {

DropoutSite NextSite(DropoutStream* stream, double rate, bool training) {
  if (!training || rate == 0) return {};
  if (stream != nullptr) return stream->Next(rate);
  const torch::Tensor seed = torch::randint(INT64_MAX, {}, torch::kInt64);
  return {rate, static_cast<uint64_t>(seed.item<int64_t>()), 0, 0};
}

bool HasKernels(const torch::Tensor& x) {
  return x.is_cpu() && (x.scalar_type() == torch::kFloat32 || x.scalar_type() == torch::kFloat64);
}

std::optional<torch::Tensor> IfDefined(const torch::Tensor& x) {
  if (!x.defined()) return std::nullopt;
  return x.contiguous();
}

void CheckIds(const torch::Tensor& ids_R, int64_t rows, int64_t first) {
  if (ids_R.numel() == 0) return;
  const auto [least, most] = ids_R.aminmax();
  for (const int64_t id : {least.item<int64_t>(), most.item<int64_t>()}) {
    if (id >= first && id < rows) continue;
    throw Error(ErrorKind::kInput,
                fmt::format("an id is {}, expected {} to {}", id, first, rows - 1));
  }
}

void CheckCount(const torch::Tensor& x, const char* what, int64_t count, const char* others) {
  if (x.numel() == count) return;
  throw Error(ErrorKind::kInput, fmt::format("{} {} for {} {}, expected one for each", x.numel(),
                                             what, count, others));
}

void CheckNoGraphWanted() {
  if (!torch::GradMode::is_enabled()) return;
  throw Error(ErrorKind::kUsage,
              "fused functions are differentiable once: a second derivative (create_graph) needs "
              "their plain versions");
}

torch::Tensor DropoutMask(const DropoutSite& site, int64_t rows, int64_t width,
                          const torch::TensorOptions& options) {
  const bool exact = options.dtype() == torch::kFloat64;
  const torch::Tensor mask = torch::empty({rows, width}, exact ? torch::kFloat64 : torch::kFloat32);
  WithReal(mask, [&](auto real) {
    using Real = decltype(real);
    Real* data = mask.mutable_data_ptr<Real>();
    for (int64_t r = 0; r < rows; ++r) {
      SelectTrainKernels<Real>().keep_mask(site, r, width, data + r * width);
    }
  });
  return mask.to(options.dtype());
}

torch::Tensor PlainDropout(const torch::Tensor& x, const DropoutSite& site) {
  if (site.rate == 0 || x.numel() == 0) return x;
  if (!x.is_cpu()) return torch::dropout(x, site.rate, /*train=*/true);
  const int64_t width = x.size(-1);
  return x * DropoutMask(site, x.numel() / width, width, x.options()).view_as(x);
}

void SaveSite(const DropoutSite& site, torch::autograd::AutogradContext* context) {
  context->saved_data["rate"] = site.rate;
  context->saved_data["seed"] = static_cast<int64_t>(site.seed);
  context->saved_data["site"] = static_cast<int64_t>(site.site);
  context->saved_data["first_row"] = site.first_row;
}

DropoutSite SavedSite(torch::autograd::AutogradContext* context) {
  auto& data = context->saved_data;
  return {data["rate"].toDouble(), static_cast<uint64_t>(data["seed"].toInt()),
          static_cast<uint32_t>(data["site"].toInt()), data["first_row"].toInt()};
}

}  // namespace attend::nn
