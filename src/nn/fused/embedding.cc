#include "nn/fused/embedding.h"

#include "attend/model_config.h"
#include "nn/fused/fused_function.h"

namespace attend::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

template <class Real>
EmbeddingArguments<Real> ArgumentsOf(const EmbeddingInputs& inputs, const DropoutSite& site) {
  EmbeddingArguments<Real> a{};
  a.rows = inputs.ids_R.size(0);
  a.width = inputs.table_VD.size(1);
  a.ids = inputs.ids_R.const_data_ptr<int64_t>();
  a.places = inputs.positions_R.const_data_ptr<int64_t>();
  a.table = inputs.table_VD.const_data_ptr<Real>();
  if (inputs.positions_TD.defined()) a.positions = inputs.positions_TD.const_data_ptr<Real>();
  a.scale = inputs.scale;
  a.dropout = site;
  return a;
}

struct EmbeddingFunction : torch::autograd::Function<EmbeddingFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& table_VD,
                               const std::optional<torch::Tensor>& positions_TD,
                               EmbeddingInputs inputs, const DropoutSite& site) {
    inputs.table_VD = table_VD;
    inputs.positions_TD = positions_TD.value_or(torch::Tensor());
    const torch::Tensor y_RD =
        torch::empty({inputs.ids_R.size(0), table_VD.size(1)}, table_VD.options());
    WithReal(y_RD, [&](auto real) {
      using Real = decltype(real);
      EmbeddingArguments<Real> a = ArgumentsOf<Real>(inputs, site);
      a.y = y_RD.mutable_data_ptr<Real>();
      SelectTrainKernels<Real>().embed(a);
    });
    SaveSite(site, context);
    context->saved_data["scale"] = inputs.scale;
    context->save_for_backward({table_VD, inputs.positions_TD, inputs.ids_R, inputs.positions_R});
    return y_RD;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckNoGraphWanted();
    const tensor_list saved = context->get_saved_variables();
    const EmbeddingInputs inputs{saved[0], saved[1], saved[2], saved[3],
                                 context->saved_data["scale"].toDouble()};
    const torch::Tensor y_gradient_RD = gradients[0].contiguous();
    const torch::Tensor table_gradient_VD = torch::zeros_like(inputs.table_VD);
    torch::Tensor positions_gradient_TD;
    if (inputs.positions_TD.defined() && inputs.positions_TD.requires_grad()) {
      positions_gradient_TD = torch::zeros_like(inputs.positions_TD);
    }
    WithReal(y_gradient_RD, [&](auto real) {
      using Real = decltype(real);
      EmbeddingGradients<Real> a{};
      a.forward = ArgumentsOf<Real>(inputs, SavedSite(context));
      a.y_gradient = y_gradient_RD.const_data_ptr<Real>();
      a.table_gradient = table_gradient_VD.mutable_data_ptr<Real>();
      if (positions_gradient_TD.defined()) {
        a.positions_gradient = positions_gradient_TD.mutable_data_ptr<Real>();
      }
      SelectTrainKernels<Real>().embed_backward(a);
    });
    return {table_gradient_VD, positions_gradient_TD, {}, {}};
  }
};

}  // namespace

torch::Tensor PlainEmbedding(const EmbeddingInputs& inputs, const DropoutSite& site) {
  const torch::Tensor known_R1 = inputs.ids_R.ge(0).unsqueeze(1);
  torch::Tensor y_RD = torch::embedding(inputs.table_VD, inputs.ids_R.clamp_min(0)) * inputs.scale;
  y_RD = y_RD.masked_fill(known_R1.logical_not(), 0);
  if (inputs.positions_TD.defined()) {
    y_RD = y_RD + inputs.positions_TD.index_select(0, inputs.positions_R);
  }
  return PlainDropout(y_RD, site);
}

torch::Tensor FusedEmbedding(const EmbeddingInputs& inputs, const DropoutSite& site) {
  if (!HasKernels(inputs.table_VD)) return PlainEmbedding(inputs, site);
  CheckIds(inputs.ids_R, inputs.table_VD.size(0), kZeroVector);
  if (inputs.positions_TD.defined()) {
    CheckCount(inputs.positions_R, "places", inputs.ids_R.numel(), "rows");
    CheckIds(inputs.positions_R, inputs.positions_TD.size(0));
  }
  EmbeddingInputs rows = inputs;
  rows.ids_R = inputs.ids_R.contiguous();
  rows.positions_R = inputs.positions_R.contiguous();
  return EmbeddingFunction::apply(inputs.table_VD.contiguous(), IfDefined(inputs.positions_TD),
                                  rows, site);
}

}  // namespace attend::nn
