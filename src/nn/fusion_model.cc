#include "attend/nn/fusion_model.h"

#include <cmath>

#include "attend/nn/initialize.h"
#include "nn/linear.h"
#include "nn/residual.h"

namespace attend::nn {
namespace {

// The sites of one pass' three stacks. The joint one has others for each input alone.
constexpr uint32_t kPictureSites = 1U << 30, kJointSites = 1U << 31, kAloneSites = 1U << 28;

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

// The rows of one encoder below.
torch::Tensor Rows(TransformerEncoder& stack, const PackedIds& read, DropoutStream* dropout) {
  const auto mask = AttentionMask::Packed(read.offsets_B1, read.offsets_B1, /*causal=*/false);
  return stack->forward(stack->Embed(read, {}, dropout), mask, nullptr, dropout);
}

// The vectors that an encoder's rows have in the space that texts and pictures share.
torch::Tensor Shared(const torch::Tensor& x_RD, const PackedIds& read,
                     const LinearLayer& projection) {
  const torch::Tensor lengths_B = read.offsets_B1.slice(0, 1) - read.offsets_B1.slice(0, 0, -1);
  const torch::Tensor mean_BD = torch::segment_reduce(x_RD, "mean", lengths_B);
  return torch::nn::functional::normalize(Linear(mean_BD, projection));
}

// Numbers among the texts and among the pictures of the items that have both.
struct Pairs {
  std::vector<int64_t> texts, pictures;
};

Pairs PairsOf(const PackedItems& items) {
  Pairs pairs;
  int64_t text = 0, picture = 0;
  for (const PackedItems::Lengths& item : items.items) {
    if (item.text > 0 && item.picture > 0) {
      pairs.texts.push_back(text);
      pairs.pictures.push_back(picture);
    }
    text += item.text > 0 ? 1 : 0;
    picture += item.picture > 0 ? 1 : 0;
  }
  return pairs;
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
  if (input.shared_width > 0) {
    const auto project = [&](TransformerEncoder& stack, int64_t d_model) {
      return stack->register_module("projection",
                                    LinearLayer(d_model, input.shared_width, /*with_bias=*/false));
    };
    text_projection = project(text, input.text.d_model);
    picture_projection = project(picture, input.picture.d_model);
  }
  torch::Generator generator = at::detail::createCPUGenerator(seed);
  InitializeWeights(*this, generator);
  const torch::NoGradGuard no_grad;
  summary.normal_(0, 1 / std::sqrt(static_cast<double>(width)), generator);
}

torch::Tensor FusionModelImpl::Nodes(const std::optional<uint64_t>& seed) {
  if (!graph.is_empty()) return graph(seed);
  return nodes.is_empty() ? torch::Tensor() : nodes->weight;
}

FusionModelImpl::Parts FusionModelImpl::Encode(const PackedItems& items,
                                               const std::optional<FusionDropoutKey>& key) {
  const FusionDropoutKey drawn = key.value_or(FusionDropoutKey{});
  DropoutStream of_text(drawn.seed, drawn.text_row),
      of_picture(drawn.seed, drawn.picture_row, kPictureSites);
  const bool texts = items.texts.offsets_B1.defined(),
             pictures = items.pictures.offsets_B1.defined();
  Parts parts;
  if (texts) parts.text_RD = Rows(text, items.texts, key ? &of_text : nullptr);
  if (pictures) parts.picture_RD = Rows(picture, items.pictures, key ? &of_picture : nullptr);
  if (!items.nodes.empty()) parts.nodes_ND = Nodes(key ? std::optional(drawn.seed) : std::nullopt);
  return parts;
}

torch::Tensor FusionModelImpl::Logits(const PackedItems& items, const Parts& parts,
                                      DropoutStream* dropout) {
  std::vector<torch::Tensor> rows = {summary.unsqueeze(0)};
  int64_t text_rows = 0, picture_rows = 0;
  if (parts.text_RD.defined()) {
    rows.push_back(Linear(parts.text_RD, from_text));
    text_rows = rows.back().size(0);
  }
  if (parts.picture_RD.defined()) {
    rows.push_back(Linear(parts.picture_RD, from_picture));
    picture_rows = rows.back().size(0);
  }
  if (parts.nodes_ND.defined()) rows.push_back(parts.nodes_ND);
  const Gathered gathered = Gather(items, text_rows, picture_rows);
  const torch::Tensor offsets_B1 = torch::tensor(gathered.offsets, torch::kInt64);
  const torch::Tensor x_RD =
      torch::cat(rows).index_select(0, torch::tensor(gathered.places, torch::kInt64));
  const auto mask = AttentionMask::Packed(offsets_B1, offsets_B1, /*causal=*/false);
  const torch::Tensor dropped_RD =
      AddDropped({}, x_RD, NextSite(dropout, embedding_dropout_, is_training()));
  const torch::Tensor summaries_BD = encoder->forward(dropped_RD, mask, nullptr, dropout)
                                         .index_select(0, offsets_B1.slice(0, 0, -1));
  return Linear(head(summaries_BD), head->weight, head->bias);
}

std::vector<FusionOutput::Alone> FusionModelImpl::EachAlone(
    const PackedItems& items, const Parts& parts, const std::optional<FusionDropoutKey>& key) {
  using Lengths = PackedItems::Lengths;
  const FusionDropoutKey drawn = key.value_or(FusionDropoutKey{});
  struct Input {
    int64_t Lengths::* rows;
    Parts part;
    int64_t rows_before;
  };
  const Input inputs[] = {{&Lengths::text, {parts.text_RD, {}, {}}, drawn.text_row},
                          {&Lengths::picture, {{}, parts.picture_RD, {}}, drawn.picture_row},
                          {&Lengths::nodes, {{}, {}, parts.nodes_ND}, drawn.node_row}};
  std::vector<FusionOutput::Alone> found;
  uint32_t sites = kJointSites;
  for (const Input& input : inputs) {
    sites += kAloneSites;
    PackedItems alone;
    std::vector<int64_t> which;
    for (const Lengths& item : items.items) {
      if (item.*input.rows > 0) which.push_back(std::ssize(alone.items));
      alone.items.emplace_back().*input.rows = item.*input.rows;
    }
    if (which.empty()) continue;
    if (input.part.nodes_ND.defined()) alone.nodes = items.nodes;
    DropoutStream dropout(drawn.seed, drawn.item + input.rows_before, sites);
    const torch::Tensor logits_BL = Logits(alone, input.part, key ? &dropout : nullptr);
    const torch::Tensor items_A = torch::tensor(which, torch::kInt64);
    found.push_back({logits_BL.index_select(0, items_A), items_A});
  }
  return found;
}

FusionOutput FusionModelImpl::Read(const PackedItems& items,
                                   const std::optional<FusionDropoutKey>& key, bool each_alone) {
  const Parts parts = Encode(items, key);
  const FusionDropoutKey drawn = key.value_or(FusionDropoutKey{});
  DropoutStream dropout(
      drawn.seed, drawn.item + drawn.text_row + drawn.picture_row + drawn.node_row, kJointSites);
  FusionOutput output;
  output.logits_BL = Logits(items, parts, key ? &dropout : nullptr);
  if (each_alone) output.alone = EachAlone(items, parts, key);
  const Pairs pairs = PairsOf(items);
  if (text_projection.is_empty() || pairs.texts.empty()) return output;
  const auto some = [](const torch::Tensor& vectors_BW, const std::vector<int64_t>& which) {
    return vectors_BW.index_select(0, torch::tensor(which, torch::kInt64));
  };
  output.texts_PW = some(Shared(parts.text_RD, items.texts, text_projection), pairs.texts);
  output.pictures_PW =
      some(Shared(parts.picture_RD, items.pictures, picture_projection), pairs.pictures);
  return output;
}

torch::Tensor FusionModelImpl::forward(const PackedItems& items,
                                       const std::optional<FusionDropoutKey>& key) {
  return Read(items, key).logits_BL;
}

torch::Tensor FusionModelImpl::TextVectors(const PackedIds& texts) {
  return Shared(Rows(text, texts, nullptr), texts, text_projection);
}

torch::Tensor FusionModelImpl::PictureVectors(const PackedIds& pictures) {
  return Shared(Rows(picture, pictures, nullptr), pictures, picture_projection);
}

void FusionModelImpl::LearnScale() {
  log_scale = register_parameter("log_scale", torch::full({1}, std::log(1 / 0.07)));
}

}  // namespace attend::nn
