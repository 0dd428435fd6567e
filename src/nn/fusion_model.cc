#include "attend/nn/fusion_model.h"

#include <cmath>

#include "attend/nn/initialize.h"
#include "nn/linear.h"
#include "nn/residual.h"

namespace attend::nn {
namespace {

// The sites of one pass' three stacks.
constexpr uint32_t kPictureSites = 1U << 30, kJointSites = 1U << 31;

// Where each row of the joint encoder stands among: the summary, all texts' rows, all pictures',
// the nodes.
struct Gathered {
  std::vector<int64_t> places, offsets = {0};
};

Gathered Gather(const PackedItems& items, int64_t text_rows, int64_t picture_rows) {
  Gathered found;
  int64_t text = 1, picture = 1 + text_rows;
  const int64_t first_node = 1 + text_rows + picture_rows;
  auto node = items.nodes.begin();
  for (const PackedItems::Lengths& item : items.items) {
    found.places.push_back(0);
    for (int64_t i = 0; i < item.text; ++i) found.places.push_back(text++);
    for (int64_t i = 0; i < item.picture; ++i) found.places.push_back(picture++);
    for (int64_t i = 0; i < item.nodes; ++i) found.places.push_back(first_node + *node++);
    found.offsets.push_back(std::ssize(found.places));
  }
  return found;
}

}  // namespace

FusionModelImpl::FusionModelImpl(const ModelConfig& config, const std::optional<GraphShape>& shape,
                                 const Dropout& dropout, uint64_t seed)
    : config_(config), embedding_dropout_(dropout.embedding) {
  CheckModelConfig(config);
  const FusionInput& input = *config.fusion;
  const int64_t width = config.encoder->d_model;
  text = register_module(
      "text", TransformerEncoder(input.text, dropout, StackInput{config.source_vocab_size}));
  picture = register_module(
      "picture", TransformerEncoder(input.picture, dropout, StackInput{0, input.patches}));
  encoder = register_module("encoder", TransformerEncoder(*config.encoder, dropout));
  summary = encoder->register_parameter("summary", torch::zeros({width}));
  from_text = encoder->register_module("from_text",
                                       LinearLayer(input.text.d_model, width, /*with_bias=*/true));
  from_picture = encoder->register_module(
      "from_picture", LinearLayer(input.picture.d_model, width, /*with_bias=*/true));
  if (shape) {
    graph = register_module("graph", RelationalGraph(*shape, width));
  } else if (!input.nodes.empty()) {
    nodes = encoder->register_module("nodes", torch::nn::Embedding(std::ssize(input.nodes), width));
  }
  head = register_module("head", Head(config));
  torch::Generator generator = at::detail::createCPUGenerator(seed);
  InitializeWeights(*this, generator);
  const torch::NoGradGuard no_grad;
  summary.normal_(0, 1 / std::sqrt(static_cast<double>(width)), generator);
}

torch::Tensor FusionModelImpl::Nodes(const std::optional<uint64_t>& seed) {
  if (!graph.is_empty()) return graph(seed);
  return nodes.is_empty() ? torch::Tensor() : nodes->weight;
}

torch::Tensor FusionModelImpl::Rows(TransformerEncoder& stack, LinearLayer& product,
                                    const PackedIds& read, DropoutStream* dropout) {
  const auto mask = AttentionMask::Packed(read.offsets_B1, read.offsets_B1, /*causal=*/false);
  const torch::Tensor x_RD = stack->Embed(read, {}, dropout);
  return Linear(stack->forward(x_RD, mask, nullptr, dropout), product);
}

torch::Tensor FusionModelImpl::Summaries(const PackedItems& items,
                                         const std::optional<FusionDropoutKey>& key) {
  const FusionDropoutKey drawn = key.value_or(FusionDropoutKey{});
  DropoutStream of_text(drawn.seed, drawn.text_row),
      of_picture(drawn.seed, drawn.picture_row, kPictureSites),
      of_joint(drawn.seed, drawn.joint_row, kJointSites);
  const auto stream = [&](DropoutStream& one) { return key ? &one : nullptr; };
  std::vector<torch::Tensor> parts = {summary.unsqueeze(0)};
  int64_t text_rows = 0, picture_rows = 0;
  if (items.texts.offsets_B1.defined()) {
    parts.push_back(Rows(text, from_text, items.texts, stream(of_text)));
    text_rows = parts.back().size(0);
  }
  if (items.pictures.offsets_B1.defined()) {
    parts.push_back(Rows(picture, from_picture, items.pictures, stream(of_picture)));
    picture_rows = parts.back().size(0);
  }
  if (!items.nodes.empty()) parts.push_back(Nodes(key ? std::optional(drawn.seed) : std::nullopt));
  const Gathered gathered = Gather(items, text_rows, picture_rows);
  const torch::Tensor offsets_B1 = torch::tensor(gathered.offsets, torch::kInt64);
  const torch::Tensor x_RD =
      torch::cat(parts).index_select(0, torch::tensor(gathered.places, torch::kInt64));
  const auto mask = AttentionMask::Packed(offsets_B1, offsets_B1, /*causal=*/false);
  const torch::Tensor dropped_RD =
      AddDropped({}, x_RD, NextSite(stream(of_joint), embedding_dropout_, is_training()));
  return encoder->forward(dropped_RD, mask, nullptr, stream(of_joint))
      .index_select(0, offsets_B1.slice(0, 0, -1));
}

torch::Tensor FusionModelImpl::forward(const PackedItems& items,
                                       const std::optional<FusionDropoutKey>& key) {
  return Linear(head(Summaries(items, key)), head->weight, head->bias);
}

}  // namespace attend::nn
