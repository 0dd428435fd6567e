#include "nn/fused/packed_attention.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attend/error.h"
#include "nn/fused/fused_function.h"

namespace attend::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// Queries, keys and values as columns of one tensor or of two.
struct Columns {
  torch::Tensor query, key, value;  // views
};

Columns Split(const torch::Tensor& query, const torch::Tensor& memory, const HeadShape& shape) {
  const int64_t keys = shape.heads * shape.key_width, values = shape.heads * shape.value_width;
  const torch::Tensor& rows = memory.defined() ? memory : query;
  const int64_t first = memory.defined() ? 0 : keys;
  return {query.narrow(1, 0, keys), rows.narrow(1, first, keys),
          rows.narrow(1, first + keys, values)};
}

// What both passes walk over.
struct Problem {
  Columns inputs;
  HeadShape shape;
  AttentionMask mask;
  DropoutSite site;
  torch::Tensor weights;            // of all sentences, one after the other
  std::vector<int64_t> weights_at;  // where each sentence's begin
};

template <class Real>
AttentionArguments<Real> ArgumentsOf(const Problem& problem, int64_t sentence) {
  const int64_t* queries = problem.mask.query_offsets_B1.const_data_ptr<int64_t>() + sentence;
  const int64_t* keys = problem.mask.key_offsets_B1.const_data_ptr<int64_t>() + sentence;
  const auto row = [](const torch::Tensor& x, int64_t r) {
    return x.const_data_ptr<Real>() + r * x.stride(0);
  };
  AttentionArguments<Real> a{};
  a.queries = queries[1] - queries[0];
  a.keys = keys[1] - keys[0];
  a.heads = problem.shape.heads;
  a.key_width = problem.shape.key_width;
  a.value_width = problem.shape.value_width;
  a.causal = problem.mask.causal;
  a.window = problem.mask.window;
  a.scale = 1 / std::sqrt(static_cast<double>(a.key_width));
  a.query = row(problem.inputs.query, queries[0]);
  a.key = row(problem.inputs.key, keys[0]);
  a.value = row(problem.inputs.value, keys[0]);
  a.query_stride = problem.inputs.query.stride(0);
  a.key_stride = problem.inputs.key.stride(0);
  a.dropout = problem.site;
  a.first_row = queries[0];
  return a;
}

// Offsets [B + 1] must rise from 0 to the rows that there are.
void CheckOffsets(const torch::Tensor& offsets_B1, int64_t rows) {
  const int64_t* offsets = offsets_B1.const_data_ptr<int64_t>();
  const int64_t last = offsets_B1.size(0) - 1;
  if (last >= 0 && offsets[0] == 0 && offsets[last] == rows &&
      std::is_sorted(offsets, offsets + last + 1)) {
    return;
  }
  throw Error(ErrorKind::kInput,
              fmt::format("the offsets of packed sentences must rise from 0 to the {} rows", rows));
}

// Calls body(arguments, sentence) for every sentence, with its weights and scratch memory.
template <class Real, class Body>
void ForEachSentence(const Problem& problem, Body body) {
  const int64_t sentences = problem.mask.query_offsets_B1.size(0) - 1;
  int64_t most = 0;
  for (int64_t b = 0; b < sentences; ++b) {
    most =
        std::max(most, SelectTrainKernels<Real>().attention_scratch(ArgumentsOf<Real>(problem, b)));
  }
  at::parallel_for(0, sentences, /*grain_size=*/8, [&](int64_t begin, int64_t end) {
    std::vector<Real> scratch(most);
    for (int64_t b = begin; b < end; ++b) {
      AttentionArguments<Real> a = ArgumentsOf<Real>(problem, b);
      a.weights = problem.weights.mutable_data_ptr<Real>() + problem.weights_at[b];
      a.scratch = scratch.data();
      body(a, b);
    }
  });
}

template <class Real>
void LayOutWeights(Problem* problem) {
  const int64_t sentences = problem->mask.query_offsets_B1.size(0) - 1;
  problem->weights_at = {0};
  for (int64_t b = 0; b < sentences; ++b) {
    const AttentionArguments<Real> a = ArgumentsOf<Real>(*problem, b);
    problem->weights_at.push_back(problem->weights_at.back() +
                                  a.heads * a.queries *
                                      SelectTrainKernels<Real>().attention_columns(a.keys));
  }
}

torch::Tensor Forward(Problem* problem) {
  const torch::Tensor& query = problem->inputs.query;
  const torch::Tensor output = torch::empty(
      {query.size(0), problem->shape.heads * problem->shape.value_width}, query.options());
  WithReal(query, [&](auto real) {
    using Real = decltype(real);
    LayOutWeights<Real>(problem);
    problem->weights = torch::empty({problem->weights_at.back()}, query.options());
    Real* data = output.mutable_data_ptr<Real>();
    ForEachSentence<Real>(*problem, [&](AttentionArguments<Real>& a, int64_t) {
      a.output = data + a.first_row * output.size(1);
      SelectTrainKernels<Real>().attention(a);
    });
  });
  return output;
}

void Backward(Problem* problem, const torch::Tensor& output_gradient, const Columns& gradients) {
  WithReal(output_gradient, [&](auto real) {
    using Real = decltype(real);
    LayOutWeights<Real>(problem);
    const int64_t* key_offsets = problem->mask.key_offsets_B1.const_data_ptr<int64_t>();
    ForEachSentence<Real>(*problem, [&](const AttentionArguments<Real>& a, int64_t b) {
      AttentionGradients<Real> g{};
      g.forward = a;
      g.output_gradient =
          output_gradient.const_data_ptr<Real>() + a.first_row * output_gradient.size(1);
      g.query_gradient = gradients.query.mutable_data_ptr<Real>() + a.first_row * a.query_stride;
      g.key_gradient = gradients.key.mutable_data_ptr<Real>() + key_offsets[b] * a.key_stride;
      g.value_gradient = gradients.value.mutable_data_ptr<Real>() + key_offsets[b] * a.key_stride;
      SelectTrainKernels<Real>().attention_backward(g);
    });
  });
}

struct PackedAttentionFunction : torch::autograd::Function<PackedAttentionFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& query,
                               const std::optional<torch::Tensor>& memory, const HeadShape& shape,
                               const AttentionMask& mask, const DropoutSite& site) {
    const torch::Tensor rows = memory.value_or(torch::Tensor());
    Problem problem{Split(query, rows, shape), shape, mask, site, {}, {}};
    const torch::Tensor output = Forward(&problem);
    SaveSite(site, context);
    context->saved_data["shape"] = std::vector<int64_t>{
        shape.heads, shape.key_width, shape.value_width, mask.causal, mask.window};
    context->save_for_backward(
        {query, rows, problem.weights, mask.query_offsets_B1, mask.key_offsets_B1});
    return output;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckNoGraphWanted();
    const tensor_list saved = context->get_saved_variables();
    const std::vector<int64_t> numbers = context->saved_data["shape"].toIntVector();
    const HeadShape shape{numbers[0], numbers[1], numbers[2]};
    const AttentionMask mask =
        AttentionMask::Packed(saved[3], saved[4], /*causal=*/numbers[3] != 0).Near(numbers[4]);
    Problem problem{
        Split(saved[0], saved[1], shape), shape, mask, SavedSite(context), saved[2], {}};
    const torch::Tensor query_gradient = torch::empty_like(saved[0]);
    const torch::Tensor memory_gradient =
        saved[1].defined() ? torch::empty_like(saved[1]) : torch::Tensor();
    Backward(&problem, gradients[0].contiguous(), Split(query_gradient, memory_gradient, shape));
    return {query_gradient, memory_gradient, {}, {}, {}};
  }
};

}  // namespace

torch::Tensor PlainPackedAttention(const torch::Tensor& query, const torch::Tensor& memory,
                                   const HeadShape& shape, const AttentionMask& mask,
                                   const DropoutSite& site) {
  const Columns inputs = Split(query, memory, shape);
  const torch::Tensor query_offsets = mask.query_offsets_B1.cpu(),
                      key_offsets = mask.key_offsets_B1.cpu();
  const double scale = 1 / std::sqrt(static_cast<double>(shape.key_width));
  std::vector<torch::Tensor> outputs;
  for (int64_t b = 0; b + 1 < query_offsets.size(0); ++b) {
    const auto heads = [&](const torch::Tensor& x, const torch::Tensor& offsets) {
      const int64_t first = offsets[b].item<int64_t>(), last = offsets[b + 1].item<int64_t>();
      return x.slice(0, first, last).unflatten(1, {shape.heads, -1}).transpose(0, 1);
    };
    const torch::Tensor query_HTK = heads(inputs.query, query_offsets),
                        key_HSK = heads(inputs.key, key_offsets),
                        value_HSV = heads(inputs.value, key_offsets);
    torch::Tensor scores_HTS = torch::matmul(query_HTK * scale, key_HSK.transpose(1, 2));
    if (mask.biased()) {
      scores_HTS = scores_HTS +
                   mask.bias_HTT.slice(1, 0, scores_HTS.size(1)).slice(2, 0, scores_HTS.size(2));
    }
    if (mask.causal) {
      const torch::Tensor future = torch::ones_like(scores_HTS[0], torch::kBool).triu(1);
      scores_HTS = scores_HTS.masked_fill(future, -INFINITY);
    }
    if (mask.window > 0) {
      scores_HTS =
          scores_HTS + WindowMask(scores_HTS.size(2), mask.window, scores_HTS.options())[0];
    }
    DropoutSite own = site;
    own.first_row += query_offsets[b].item<int64_t>();
    const torch::Tensor weights_HTS = at::_safe_softmax(scores_HTS, -1);
    const torch::Tensor dropped = PlainDropout(weights_HTS.transpose(0, 1).flatten(1), own);
    const torch::Tensor kept_HTS =
        dropped.view({query_HTK.size(1), shape.heads, key_HSK.size(1)}).transpose(0, 1);
    outputs.push_back(torch::matmul(kept_HTS, value_HSV).transpose(0, 1).flatten(1));
  }
  return torch::cat(outputs);
}

torch::Tensor PackedAttention(const torch::Tensor& query, const torch::Tensor& memory,
                              const HeadShape& shape, const AttentionMask& mask,
                              const DropoutSite& site) {
  if (!HasKernels(query)) return PlainPackedAttention(query, memory, shape, mask, site);
  CheckOffsets(mask.query_offsets_B1, query.size(0));
  CheckOffsets(mask.key_offsets_B1, (memory.defined() ? memory : query).size(0));
  if (mask.query_offsets_B1.size(0) != mask.key_offsets_B1.size(0)) {
    throw Error(ErrorKind::kInput, "queries and keys are packed from other numbers of sentences");
  }
  if (mask.biased()) return PlainPackedAttention(query, memory, shape, mask, site);
  return PackedAttentionFunction::apply(query.contiguous(), IfDefined(memory), shape, mask, site);
}

}  // namespace attend::nn
