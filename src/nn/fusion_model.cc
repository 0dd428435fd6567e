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

torch::Tensor FusionModelImpl::Summaries(const PackedItems& items, const Parts& parts,
                                         const std::optional<FusionDropoutKey>& key) {
  const FusionDropoutKey drawn = key.value_or(FusionDropoutKey{});
  DropoutStream of_joint(drawn.seed, drawn.joint_row, kJointSites);
  DropoutStream* const dropout = key ? &of_joint : nullptr;
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
  return encoder->forward(dropped_RD, mask, nullptr, dropout)
      .index_select(0, offsets_B1.slice(0, 0, -1));
}

std::vector<FusionOutput::Alone> FusionModelImpl::EachAlone(const PackedItems& items,
                                                            const Parts& parts) {
  std::vector<FusionOutput::Alone> found;
  const auto add = [&](const torch::Tensor& rows_RD, int64_t PackedItems::Lengths::* rows,
                       const LinearLayer& own_head) {
    std::vector<int64_t> which, lengths;
    for (int64_t i = 0; i < std::ssize(items.items); ++i) {
      if (items.items[i].*rows == 0) continue;
      which.push_back(i);
      lengths.push_back(items.items[i].*rows);
    }
    const torch::Tensor mean_AD =
        torch::segment_reduce(rows_RD, "mean", torch::tensor(lengths, torch::kInt64));
    found.push_back({Linear(mean_AD, own_head), torch::tensor(which, torch::kInt64)});
  };
  using Lengths = PackedItems::Lengths;
  if (parts.text_RD.defined()) add(parts.text_RD, &Lengths::text, text_head);
  if (parts.picture_RD.defined()) add(parts.picture_RD, &Lengths::picture, picture_head);
  if (parts.nodes_ND.defined()) {
    const torch::Tensor places_R = torch::tensor(items.nodes, torch::kInt64);
    add(parts.nodes_ND.index_select(0, places_R), &Lengths::nodes, links_head);
  }
  return found;
}

FusionOutput FusionModelImpl::Read(const PackedItems& items,
                                   const std::optional<FusionDropoutKey>& key) {
  const Parts parts = Encode(items, key);
  FusionOutput output;
  output.logits_BL = Linear(head(Summaries(items, parts, key)), head->weight, head->bias);
  if (!text_head.is_empty()) output.alone = EachAlone(items, parts);
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

void FusionModelImpl::LearnAlone() {
  const torch::NoGradGuard no_grad;
  const auto add = [&](const char* name, int64_t width) {
    LinearLayer layer =
        register_module(name, LinearLayer(width, std::ssize(config_.labels), /*with_bias=*/true));
    for (torch::Tensor& parameter : layer->parameters()) parameter.zero_();
    return layer;
  };
  text_head = add("text_head", config_.fusion->text.d_model);
  picture_head = add("picture_head", config_.fusion->picture.d_model);
  links_head = add("links_head", config_.encoder->d_model);
}

}  // namespace attend::nn
