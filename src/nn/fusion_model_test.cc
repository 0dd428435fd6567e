#include "attend/nn/fusion_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

namespace attend::nn {
namespace {

GraphShape SmallGraph() {
  GraphShape shape;
  shape.nodes = 6;  // of which the last stands alone
  shape.relations = 2;
  shape.triples = {{0, 0, 1}, {0, 0, 2}, {3, 0, 2}, {4, 1, 2}, {1, 1, 3}};
  shape.width = 5;
  shape.bases = 3;
  return shape;
}

// Equation 2 by loops over triples: relu(W_0 h_i + b + sum_r sum_j W_r h_j / c_ir).
TEST(RelationalGraphTest, ALayerIsThePapersFormula) {
  torch::manual_seed(1);
  const GraphShape shape = SmallGraph();
  RelationalLayer layer(shape);
  const torch::NoGradGuard no_grad;
  for (torch::Tensor& parameter : layer->parameters()) parameter.normal_();
  const torch::Tensor nodes_NG = torch::randn({shape.nodes, shape.width});
  const torch::Tensor bases_BGG = layer->bases.view({shape.bases, shape.width, shape.width});
  // By node and relation: where its edges come from.
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> into;
  for (const auto& [from, relation, to] : shape.triples) {
    into[{to, relation}].push_back(from);
    into[{from, relation + shape.relations}].push_back(to);
  }
  torch::Tensor expected_NG = torch::matmul(nodes_NG, layer->self->weight.t()) + layer->self->bias;
  for (const auto& [place, from] : into) {
    const auto [node, relation] = place;
    torch::Tensor weight_GG = torch::zeros({shape.width, shape.width});
    for (int64_t b = 0; b < shape.bases; ++b)
      weight_GG += layer->coefficients[relation][b] * bases_BGG[b];
    for (const int64_t other : from)
      expected_NG[node] += torch::mv(weight_GG, nodes_NG[other]) / static_cast<double>(from.size());
  }
  const torch::Tensor found_NG = layer(nodes_NG, GraphEdges(shape));
  EXPECT_LT((found_NG - expected_NG.relu()).abs().max().item<double>(), 1e-5);
  EXPECT_GT(found_NG.max().item<double>(), 0.1);
}

TEST(RelationalGraphTest, AnUpdateHidesNodesByItsSeed) {
  GraphShape shape = SmallGraph();
  shape.node_dropout = 0.5;
  RelationalGraph graph(shape, 4);
  EXPECT_TRUE(graph(7).equal(graph(7)));
  EXPECT_FALSE(graph(7).equal(graph(8)) && graph(8).equal(graph(9)));
  graph->eval();
  EXPECT_TRUE(graph(7).equal(graph(std::nullopt)));
}

ModelConfig SmallConfig() {
  ModelConfig config = PresetConfig("fusion-tiny");
  config.task = "fusion";
  config.source_vocab_size = 20;
  config.head = HeadKind::kLabels;
  config.labels = {"a", "b", "c"};
  FusionInput& fusion = *config.fusion;
  for (StackConfig* stack : {&fusion.text, &fusion.picture, &*config.encoder}) {
    stack->layers = 1;
    stack->d_model = 16;
    stack->heads = 2;
    stack->d_ff = 32;
  }
  fusion.patches = {.height = 4, .width = 4, .channels = 1, .patch = 2, .class_token = false};
  fusion.picture.max_positions = 4;
  fusion.nodes = {"u", "v", "w", "x", "y", "z"};
  fusion.shared_width = 5;
  return config;
}

PackedIds Texts(const std::vector<std::vector<int64_t>>& texts) {
  std::vector<int64_t> ids, places, offsets = {0};
  PackedIds packed;
  for (const std::vector<int64_t>& text : texts) {
    for (int64_t t = 0; t < std::ssize(text); ++t) places.push_back(t);
    ids.insert(ids.end(), text.begin(), text.end());
    offsets.push_back(std::ssize(ids));
    packed.longest = std::max<int64_t>(packed.longest, std::ssize(text));
  }
  packed.ids_R = torch::tensor(ids, torch::kInt64);
  packed.positions_R = torch::tensor(places, torch::kInt64);
  packed.offsets_B1 = torch::tensor(offsets, torch::kInt64);
  return packed;
}

PackedIds Pictures(const torch::Tensor& patches_PE) {
  PackedIds packed;
  const int64_t pictures = patches_PE.size(0) / 4;
  packed.longest = 4;
  packed.offsets_B1 = torch::arange(pictures + 1, torch::kInt64) * 4;
  packed.positions_R = torch::arange(4, torch::kInt64).repeat({pictures});
  packed.patches_PE = patches_PE;
  return packed;
}

// Items together are what they are alone, whatever inputs they have, and each input counts.
TEST(FusionModelTest, ItemsAreReadByThemselves) {
  FusionModel model(SmallConfig(), SmallGraph());
  model->eval();
  const torch::NoGradGuard no_grad;
  const torch::Tensor patches_PE = torch::rand({8, 4});
  PackedItems all, first, second, third, fourth;
  all.items = {{3, 4, 2}, {0, 0, 1}, {2, 0, 0}, {0, 4, 0}};
  all.texts = Texts({{2, 7, 3}, {2, 3}});
  all.pictures = Pictures(patches_PE);
  all.nodes = {1, 4, 5};
  first.items = {{3, 4, 2}};
  first.texts = Texts({{2, 7, 3}});
  first.pictures = Pictures(patches_PE.slice(0, 0, 4));
  first.nodes = {1, 4};
  second.items = {{0, 0, 1}};
  second.nodes = {5};
  third.items = {{2, 0, 0}};
  third.texts = Texts({{2, 3}});
  fourth.items = {{0, 4, 0}};
  fourth.pictures = Pictures(patches_PE.slice(0, 4));
  const torch::Tensor alone_BL =
      torch::cat({model(first), model(second), model(third), model(fourth)});
  EXPECT_LT((model(all) - alone_BL).abs().max().item<double>(), 1e-5);
  PackedItems other = first;
  other.nodes = {1, 3};
  EXPECT_GT((model(other) - model(first)).abs().max().item<double>(), 1e-4);
}

// W m + b, m the mean of the encoder's rows or of the nodes' vectors.
TEST(FusionModelTest, EachInputHasAHeadOfItsOwn) {
  FusionModel model(SmallConfig(), SmallGraph());
  model->LearnAlone();
  model->eval();
  const torch::NoGradGuard no_grad;
  for (const LinearLayer& own : {model->text_head, model->picture_head, model->links_head})
    for (torch::Tensor& parameter : own->parameters()) parameter.normal_();
  PackedItems items;
  items.items = {{3, 4, 2}, {2, 0, 1}, {0, 4, 0}};
  items.texts = Texts({{2, 7, 3}, {2, 3}});
  items.pictures = Pictures(torch::rand({8, 4}));
  items.nodes = {1, 4, 5};
  const FusionOutput output = model->Read(items);
  const auto rows = [](TransformerEncoder& stack, const PackedIds& read) {
    const auto mask = AttentionMask::Packed(read.offsets_B1, read.offsets_B1, false);
    return stack->forward(stack->Embed(read, {}, nullptr), mask);
  };
  const auto logits = [](const torch::Tensor& rows_RD, const LinearLayer& own) {
    return torch::mv(own->weight, rows_RD.mean(0)) + own->bias;
  };
  const torch::Tensor text_RD = rows(model->text, items.texts),
                      picture_RD = rows(model->picture, items.pictures), nodes_ND = model->Nodes();
  const std::vector<std::vector<torch::Tensor>> expected = {
      {logits(text_RD.slice(0, 0, 3), model->text_head),
       logits(text_RD.slice(0, 3), model->text_head)},
      {logits(picture_RD.slice(0, 0, 4), model->picture_head),
       logits(picture_RD.slice(0, 4), model->picture_head)},
      {logits(nodes_ND.index_select(0, torch::tensor({1, 4})), model->links_head),
       logits(nodes_ND.slice(0, 5), model->links_head)}};
  const std::vector<std::vector<int64_t>> which = {{0, 1}, {0, 2}, {0, 1}};
  ASSERT_EQ(output.alone.size(), 3u);
  for (size_t i = 0; i < which.size(); ++i) {
    EXPECT_TRUE(output.alone[i].items_A.equal(torch::tensor(which[i], torch::kInt64)));
    const torch::Tensor difference_AL = output.alone[i].logits_AL - torch::stack(expected[i]);
    EXPECT_LT(difference_AL.abs().max().item<double>(), 1e-5);
  }
  EXPECT_TRUE(output.logits_BL.equal(model(items)));
}

// W m divided by its length, m the mean of the encoder's rows; pairs are of the items with both.
TEST(FusionModelTest, VectorsAreOfTextsAndPicturesByThemselves) {
  FusionModel model(SmallConfig(), SmallGraph());
  model->eval();
  const torch::NoGradGuard no_grad;
  const torch::Tensor patches_PE = torch::rand({8, 4});
  PackedItems items;
  items.items = {{2, 0, 1}, {3, 4, 0}, {0, 0, 1}, {0, 4, 0}};
  items.texts = Texts({{2, 3}, {2, 7, 3}});
  items.pictures = Pictures(patches_PE);
  items.nodes = {1, 5};
  const FusionOutput output = model->Read(items);
  ASSERT_EQ(output.texts_PW.sizes(), (std::vector<int64_t>{1, 5}));
  const auto expected = [](TransformerEncoder& stack, const PackedIds& read,
                           const LinearLayer& projection) {
    const auto mask = AttentionMask::Packed(read.offsets_B1, read.offsets_B1, false);
    const torch::Tensor mean_D = stack->forward(stack->Embed(read, {}, nullptr), mask).mean(0);
    const torch::Tensor vector_W = torch::mv(projection->weight, mean_D);
    return vector_W / vector_W.norm();
  };
  const PackedIds text = Texts({{2, 7, 3}}), picture = Pictures(patches_PE.slice(0, 0, 4));
  const torch::Tensor of_text_W = expected(model->text, text, model->text_projection),
                      of_picture_W = expected(model->picture, picture, model->picture_projection);
  EXPECT_LT((output.texts_PW[0] - of_text_W).abs().max().item<double>(), 1e-5);
  EXPECT_LT((output.pictures_PW[0] - of_picture_W).abs().max().item<double>(), 1e-5);
  EXPECT_LT((model->TextVectors(text)[0] - of_text_W).abs().max().item<double>(), 1e-5);
  EXPECT_LT((model->PictureVectors(picture)[0] - of_picture_W).abs().max().item<double>(), 1e-5);
  EXPECT_TRUE(output.logits_BL.equal(model(items)));
}

// What export keeps of the graph: the vectors that its network makes.
TEST(FusionModelTest, VectorsOfTheNodesStandForTheGraph) {
  FusionModel with(SmallConfig(), SmallGraph()), without(SmallConfig());
  const torch::NoGradGuard no_grad;
  const auto from = with->named_parameters();
  for (auto& parameter : without->named_parameters())
    if (const torch::Tensor* same = from.find(parameter.key())) parameter.value().copy_(*same);
  without->nodes->weight.copy_(with->Nodes());
  with->eval();
  without->eval();
  PackedItems items;
  items.items = {{0, 0, 2}};
  items.nodes = {0, 2};
  EXPECT_TRUE(with(items).equal(without(items)));
}

}  // namespace
}  // namespace attend::nn
