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

// Queries of one sentence and the keys that they see, both counted from its first row.
struct Block {
  int64_t sentence, first_query, queries, first_key, keys;
  int64_t weights_at;
};

// What both passes walk over.
struct Problem {
  Columns inputs;
  HeadShape shape;
  AttentionMask mask;  // its bias lies together in memory
  DropoutSite site;
  torch::Tensor weights;             // of all blocks, one after the other
  std::vector<Block> blocks;         // of all sentences, one after the other
  std::vector<int64_t> first_block;  // of each sentence, and after the last one
};

// A window that hides nothing is none.
int64_t WindowOf(const AttentionMask& mask, int64_t keys) {
  return mask.window < keys - 1 ? mask.window : 0;
}

template <class Real>
AttentionArguments<Real> ArgumentsOf(const Problem& problem, const Block& block) {
  const int64_t* queries = problem.mask.query_offsets_B1.const_data_ptr<int64_t>() + block.sentence;
  const int64_t* keys = problem.mask.key_offsets_B1.const_data_ptr<int64_t>() + block.sentence;
  const auto row = [](const torch::Tensor& x, int64_t r) {
    return x.const_data_ptr<Real>() + r * x.stride(0);
  };
  AttentionArguments<Real> a{};
  a.queries = block.queries;
  a.keys = block.keys;
  a.heads = problem.shape.heads;
  a.key_width = problem.shape.key_width;
  a.value_width = problem.shape.value_width;
  a.first_query = block.first_query - block.first_key;
  a.causal = problem.mask.causal;
  a.window = WindowOf(problem.mask, keys[1] - keys[0]);
  a.scale = 1 / std::sqrt(static_cast<double>(a.key_width));
  a.first_row = queries[0] + block.first_query;
  a.query = row(problem.inputs.query, a.first_row);
  a.key = row(problem.inputs.key, keys[0] + block.first_key);
  a.value = row(problem.inputs.value, keys[0] + block.first_key);
  a.query_stride = problem.inputs.query.stride(0);
  a.key_stride = problem.inputs.key.stride(0);
  a.dropout = problem.site;
  if (const torch::Tensor& bias_HN = problem.mask.bias_HN; bias_HN.defined()) {
    a.bias = bias_HN.const_data_ptr<Real>() + bias_HN.size(1) / 2;
    a.bias_stride = bias_HN.size(1);
  }
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

// A bias must have a number for each head and each distance within the longest sentence.
void CheckBias(const torch::Tensor& bias_HN, int64_t heads, const torch::Tensor& offsets_B1) {
  if (!bias_HN.defined()) return;
  const int64_t* offsets = offsets_B1.const_data_ptr<int64_t>();
  int64_t longest = 0;
  for (int64_t b = 0; b + 1 < offsets_B1.size(0); ++b)
    longest = std::max(longest, offsets[b + 1] - offsets[b]);
  if (bias_HN.size(0) == heads && bias_HN.size(1) % 2 == 1 && bias_HN.size(1) >= 2 * longest - 1)
    return;
  throw Error(
      ErrorKind::kInput,
      fmt::format("the bias has {} rows of {} distances, expected {} rows of an odd number, "
                  "at least {}",
                  bias_HN.size(0), bias_HN.size(1), heads, 2 * longest - 1));
}

// Cuts sentences at the window's scale: products over all keys would cost the square of a
// sentence's length. Keys begin where they would in whole vectors, so that sums have the same bits.
void CutIntoBlocks(Problem* problem) {
  constexpr int64_t kLeastQueries = 32, kVector = 16;  // no vector is longer
  const int64_t* query_offsets = problem->mask.query_offsets_B1.const_data_ptr<int64_t>();
  const int64_t* key_offsets = problem->mask.key_offsets_B1.const_data_ptr<int64_t>();
  for (int64_t b = 0; b + 1 < problem->mask.query_offsets_B1.size(0); ++b) {
    problem->first_block.push_back(std::ssize(problem->blocks));
    const int64_t queries = query_offsets[b + 1] - query_offsets[b],
                  keys = key_offsets[b + 1] - key_offsets[b];
    const int64_t window = WindowOf(problem->mask, keys);
    const int64_t step = window == 0 ? queries : std::max(kLeastQueries, window);
    int64_t at = 0;
    do {
      Block block{b, at, std::min(step, queries - at), 0, keys, 0};
      if (window > 0) {
        block.first_key = std::max<int64_t>(0, at - window) / kVector * kVector;
        const int64_t after = problem->mask.causal ? 0 : window;
        block.keys = std::min(keys, at + block.queries + after) - block.first_key;
      }
      problem->blocks.push_back(block);
      at += step;
    } while (at < queries);
  }
  problem->first_block.push_back(std::ssize(problem->blocks));
}

// Calls body(arguments, block) for every block, a sentence's in their order, with its weights and
// scratch memory.
template <class Real, class Body>
void ForEachBlock(const Problem& problem, Body body) {
  int64_t most = 0;
  for (const Block& block : problem.blocks) {
    most = std::max(
        most, SelectTrainKernels<Real>().attention_scratch(ArgumentsOf<Real>(problem, block)));
  }
  const int64_t sentences = std::ssize(problem.first_block) - 1;
  at::parallel_for(0, sentences, /*grain_size=*/8, [&](int64_t begin, int64_t end) {
    const torch::Tensor scratch = torch::empty({most}, problem.weights.options());
    for (int64_t i = problem.first_block[begin]; i < problem.first_block[end]; ++i) {
      const Block& block = problem.blocks[i];
      AttentionArguments<Real> a = ArgumentsOf<Real>(problem, block);
      a.weights = problem.weights.mutable_data_ptr<Real>() + block.weights_at;
      a.scratch = scratch.mutable_data_ptr<Real>();
      body(a, block);
    }
  });
}

// Returns how many weights there are.
template <class Real>
int64_t LayOutWeights(Problem* problem) {
  int64_t at = 0;
  for (Block& block : problem->blocks) {
    block.weights_at = at;
    at += problem->shape.heads * block.queries *
          SelectTrainKernels<Real>().attention_columns(block.keys);
  }
  return at;
}

torch::Tensor Forward(Problem* problem) {
  const torch::Tensor& query = problem->inputs.query;
  const torch::Tensor output = torch::empty(
      {query.size(0), problem->shape.heads * problem->shape.value_width}, query.options());
  WithReal(query, [&](auto real) {
    using Real = decltype(real);
    CutIntoBlocks(problem);
    problem->weights = torch::empty({LayOutWeights<Real>(problem)}, query.options());
    Real* data = output.mutable_data_ptr<Real>();
    ForEachBlock<Real>(*problem, [&](AttentionArguments<Real>& a, const Block&) {
      a.output = data + a.first_row * output.size(1);
      SelectTrainKernels<Real>().attention(a);
    });
  });
  return output;
}

// `bias_BHN`, undefined without a bias, is added to: the gradient of it from each sentence.
void Backward(Problem* problem, const torch::Tensor& output_gradient, const Columns& gradients,
              const torch::Tensor& bias_BHN) {
  WithReal(output_gradient, [&](auto real) {
    using Real = decltype(real);
    CutIntoBlocks(problem);
    LayOutWeights<Real>(problem);
    const int64_t* key_offsets = problem->mask.key_offsets_B1.const_data_ptr<int64_t>();
    ForEachBlock<Real>(*problem, [&](const AttentionArguments<Real>& a, const Block& block) {
      const int64_t first_key = key_offsets[block.sentence] + block.first_key;
      AttentionGradients<Real> g{};
      g.forward = a;
      g.output_gradient =
          output_gradient.const_data_ptr<Real>() + a.first_row * output_gradient.size(1);
      g.query_gradient = gradients.query.mutable_data_ptr<Real>() + a.first_row * a.query_stride;
      g.key_gradient = gradients.key.mutable_data_ptr<Real>() + first_key * a.key_stride;
      g.value_gradient = gradients.value.mutable_data_ptr<Real>() + first_key * a.key_stride;
      g.add = problem->mask.window > 0;
      if (bias_BHN.defined()) {
        g.bias_gradient = bias_BHN.mutable_data_ptr<Real>() + block.sentence * bias_BHN.stride(0) +
                          bias_BHN.size(2) / 2;
      }
      SelectTrainKernels<Real>().attention_backward(g);
    });
  });
}

// Adds up in the order of the sentences, whatever the threads; undefined for an undefined one.
torch::Tensor SumOfSentences(const torch::Tensor& x_BHN) {
  if (!x_BHN.defined()) return {};
  torch::Tensor sum_HN = torch::zeros_like(x_BHN[0]);
  WithReal(x_BHN, [&](auto real) {
    using Real = decltype(real);
    const Real* x = x_BHN.const_data_ptr<Real>();
    Real* sum = sum_HN.mutable_data_ptr<Real>();
    for (int64_t b = 0; b < x_BHN.size(0); ++b) {
      for (int64_t i = 0; i < sum_HN.numel(); ++i) sum[i] += x[b * sum_HN.numel() + i];
    }
  });
  return sum_HN;
}

// What is no tensor that has a gradient.
struct PackedSetting {
  HeadShape shape;
  AttentionMask mask;
  DropoutSite site;
};

struct PackedAttentionFunction : torch::autograd::Function<PackedAttentionFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& query,
                               const std::optional<torch::Tensor>& memory,
                               const std::optional<torch::Tensor>& bias_HN, PackedSetting setting) {
    const torch::Tensor rows = memory.value_or(torch::Tensor());
    const auto& [shape, mask, site] = setting;
    setting.mask.bias_HN = bias_HN.value_or(torch::Tensor());
    Problem problem{Split(query, rows, shape), shape, mask, site, {}, {}, {}};
    const torch::Tensor output = Forward(&problem);
    SaveSite(site, context);
    context->saved_data["shape"] = std::vector<int64_t>{
        shape.heads, shape.key_width, shape.value_width, mask.causal, mask.window};
    context->save_for_backward(
        {query, rows, problem.weights, mask.query_offsets_B1, mask.key_offsets_B1, mask.bias_HN});
    return output;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckNoGraphWanted();
    const tensor_list saved = context->get_saved_variables();
    const std::vector<int64_t> numbers = context->saved_data["shape"].toIntVector();
    const HeadShape shape{numbers[0], numbers[1], numbers[2]};
    AttentionMask mask =
        AttentionMask::Packed(saved[3], saved[4], /*causal=*/numbers[3] != 0).Near(numbers[4]);
    mask.bias_HN = saved[5];
    Problem problem{
        Split(saved[0], saved[1], shape), shape, mask, SavedSite(context), saved[2], {}, {}};
    // Blocks of a window add to what others wrote.
    const auto empty = [&](const torch::Tensor& x) {
      return mask.window > 0 ? torch::zeros_like(x) : torch::empty_like(x);
    };
    const torch::Tensor query_gradient = empty(saved[0]);
    const torch::Tensor memory_gradient = saved[1].defined() ? empty(saved[1]) : torch::Tensor();
    const torch::Tensor bias_BHN =
        mask.biased()
            ? torch::zeros({saved[3].size(0) - 1, mask.bias_HN.size(0), mask.bias_HN.size(1)},
                           mask.bias_HN.options())
            : torch::Tensor();
    Backward(&problem, gradients[0].contiguous(), Split(query_gradient, memory_gradient, shape),
             bias_BHN);
    return {query_gradient, memory_gradient, SumOfSentences(bias_BHN), {}};
  }
};

// Dropout of one sentence's weights. With a window a column stands for a distance from the query.
torch::Tensor DropWeights(const torch::Tensor& weights_HTS, const AttentionMask& mask,
                          const DropoutSite& site) {
  const int64_t heads = weights_HTS.size(0), queries = weights_HTS.size(1),
                keys = weights_HTS.size(2), window = WindowOf(mask, keys);
  if (window == 0 || site.rate == 0 || !weights_HTS.is_cpu()) {
    const torch::Tensor dropped = PlainDropout(weights_HTS.transpose(0, 1).flatten(1), site);
    return dropped.view({queries, heads, keys}).transpose(0, 1);
  }
  const torch::Tensor kept_THW =
      DropoutMask(site, queries, heads * (2 * window + 1), weights_HTS.options())
          .view({queries, heads, -1});
  const torch::Tensor places = torch::arange(keys);
  const torch::Tensor columns_THS = (places - places.unsqueeze(1) + window)
                                        .clamp(0, 2 * window)
                                        .unsqueeze(1)
                                        .expand({queries, heads, keys});
  return weights_HTS * kept_THW.gather(2, columns_THS).transpose(0, 1);
}

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
    if (mask.biased()) scores_HTS = scores_HTS + BiasOfPairs(mask.bias_HN, scores_HTS.size(2));
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
    const torch::Tensor kept_HTS = DropWeights(weights_HTS, mask, own);
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
  CheckBias(mask.bias_HN, shape.heads, mask.key_offsets_B1);
  return PackedAttentionFunction::apply(query.contiguous(), IfDefined(memory),
                                        IfDefined(mask.bias_HN), PackedSetting{shape, mask, site});
}

}  // namespace attend::nn
