#include "nn/fused/residual_norm.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "nn/fused/fused_function.h"

namespace attend::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// Rows whose gradients of gain and bias are summed together: the sums do not depend on threads.
constexpr int64_t kBlockRows = 512;

struct LayerNormWeights {
  torch::Tensor gain_D, bias_D;  // undefined for no norm
  double epsilon = 0;
};

struct Computed {
  torch::Tensor sum, moments_R2, y;
};

Computed Compute(const torch::Tensor& x, const torch::Tensor& sublayer, const DropoutSite& site,
                 const LayerNormWeights& norm) {
  const int64_t width = sublayer.size(-1), rows = width == 0 ? 0 : sublayer.numel() / width;
  Computed result{torch::empty_like(sublayer), {}, {}};
  if (norm.gain_D.defined()) {
    result.moments_R2 = torch::empty({rows, 2}, sublayer.options());
    result.y = torch::empty_like(sublayer);
  }
  WithReal(sublayer, [&](auto real) {
    using Real = decltype(real);
    at::parallel_for(0, rows, kBlockRows, [&](int64_t begin, int64_t end) {
      ResidualNormArguments<Real> a{};
      a.rows = end - begin;
      a.width = width;
      a.first_row = begin;
      if (x.defined()) a.x = x.const_data_ptr<Real>() + begin * width;
      a.sublayer = sublayer.const_data_ptr<Real>() + begin * width;
      a.dropout = site;
      a.sum = result.sum.mutable_data_ptr<Real>() + begin * width;
      if (norm.gain_D.defined()) {
        a.gain = norm.gain_D.const_data_ptr<Real>();
        a.bias = norm.bias_D.const_data_ptr<Real>();
        a.epsilon = norm.epsilon;
        a.moments = result.moments_R2.mutable_data_ptr<Real>() + 2 * begin;
        a.y = result.y.mutable_data_ptr<Real>() + begin * width;
      }
      SelectTrainKernels<Real>().residual_norm(a);
    });
  });
  return result;
}

struct AddDroppedFunction : torch::autograd::Function<AddDroppedFunction> {
  static torch::Tensor forward(AutogradContext* context, const std::optional<torch::Tensor>& x,
                               const torch::Tensor& sublayer, const DropoutSite& site) {
    SaveSite(site, context);
    context->saved_data["with_x"] = x.has_value();
    return Compute(x.value_or(torch::Tensor()), sublayer.contiguous(), site, {}).sum;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckNoGraphWanted();
    const torch::Tensor sublayer_gradient =
        Compute({}, gradients[0].contiguous(), SavedSite(context), {}).sum;
    const bool with_x = context->saved_data["with_x"].toBool();
    return {with_x ? gradients[0] : torch::Tensor(), sublayer_gradient, {}};
  }
};

struct Gradients {
  torch::Tensor sum, sublayer, gain_D, bias_D;
};

Gradients GradientsOf(const torch::Tensor& y_gradient, const Computed& computed,
                      const torch::Tensor& gain_D, const DropoutSite& site) {
  const int64_t width = gain_D.size(0), rows = computed.moments_R2.size(0);
  const int64_t blocks = (rows + kBlockRows - 1) / kBlockRows;
  Gradients result{torch::empty_like(y_gradient), {}, {}, {}};
  result.sublayer = site.rate == 0 ? result.sum : torch::empty_like(y_gradient);
  const torch::Tensor partial_B2D = torch::zeros({blocks, 2, width}, gain_D.options());
  WithReal(y_gradient, [&](auto real) {
    using Real = decltype(real);
    at::parallel_for(0, blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        const int64_t first = block * kBlockRows, at = first * width;
        ResidualNormGradients<Real> a{};
        a.rows = std::min(kBlockRows, rows - first);
        a.width = width;
        a.first_row = first;
        a.y_gradient = y_gradient.const_data_ptr<Real>() + at;
        a.sum = computed.sum.const_data_ptr<Real>() + at;
        a.moments = computed.moments_R2.const_data_ptr<Real>() + 2 * first;
        a.gain = gain_D.const_data_ptr<Real>();
        a.dropout = site;
        a.sum_gradient = result.sum.mutable_data_ptr<Real>() + at;
        if (site.rate != 0) a.sublayer_gradient = result.sublayer.mutable_data_ptr<Real>() + at;
        a.gain_gradient = partial_B2D.mutable_data_ptr<Real>() + 2 * block * width;
        a.bias_gradient = a.gain_gradient + width;
        SelectTrainKernels<Real>().residual_norm_backward(a);
      }
    });
  });
  const torch::Tensor sums_2D = partial_B2D.sum(0);
  result.gain_D = sums_2D[0];
  result.bias_D = sums_2D[1];
  return result;
}

struct ResidualNormFunction : torch::autograd::Function<ResidualNormFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& sublayer, const torch::Tensor& gain_D,
                               const torch::Tensor& bias_D,
                               const std::pair<DropoutSite, double>& site_and_epsilon) {
    const auto& [site, epsilon] = site_and_epsilon;
    const Computed computed =
        Compute(x.contiguous(), sublayer.contiguous(), site, {gain_D, bias_D, epsilon});
    SaveSite(site, context);
    context->save_for_backward({computed.sum, computed.moments_R2, gain_D});
    return computed.y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckNoGraphWanted();
    const tensor_list saved = context->get_saved_variables();
    const Gradients result = GradientsOf(gradients[0].contiguous(), {saved[0], saved[1], {}},
                                         saved[2], SavedSite(context));
    return {result.sum, result.sublayer, result.gain_D, result.bias_D, {}};
  }
};

}  // namespace

torch::Tensor PlainAddDropped(const torch::Tensor& x, const torch::Tensor& sublayer,
                              const DropoutSite& site) {
  const torch::Tensor dropped = PlainDropout(sublayer, site);
  return x.defined() ? x + dropped : dropped;
}

torch::Tensor AddDropped(const torch::Tensor& x, const torch::Tensor& sublayer,
                         const DropoutSite& site) {
  if (site.rate == 0 || !HasKernels(x.defined() ? x : sublayer))
    return PlainAddDropped(x, sublayer, site);
  const torch::Tensor same_type = x.defined() ? sublayer.to(x.scalar_type()) : sublayer;
  return AddDroppedFunction::apply(IfDefined(x), same_type, site);
}

torch::Tensor PlainResidualNorm(const torch::Tensor& x, const torch::Tensor& sublayer,
                                const DropoutSite& site, NormImpl& norm) {
  return norm.forward(x + PlainDropout(sublayer, site));
}

torch::Tensor ResidualNorm(const torch::Tensor& x, const torch::Tensor& sublayer,
                           const DropoutSite& site, NormImpl& norm) {
  if (!norm.bias.defined()) return norm.forward(AddDropped(x, sublayer, site));
  if (!HasKernels(x)) return PlainResidualNorm(x, sublayer, site, norm);
  return ResidualNormFunction::apply(x, sublayer.to(x.scalar_type()), norm.weight, norm.bias,
                                     std::pair(site, norm.epsilon));
}

}  // namespace attend::nn
