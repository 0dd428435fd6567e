#include "tasks/fusion/item_attention.h"

#include <gmock/gmock.h>

#include <cmath>

#include "attend/error.h"
#include "engine/forward.h"
#include "tasks/label_model_fixture.h"

namespace attend {
namespace {

using testing::ElementsAre;
using Rows = std::vector<std::vector<double>>;

ClassifiedItem WholeItem() {
  ClassifiedItem item;
  item.text = "lumi tavo  kesi";
  for (int pixel = 0; pixel < 64; ++pixel)
    item.pixels.push_back(static_cast<uint8_t>(37 * pixel % 256));
  item.links = {"weaver", "silk", "weaver"};
  return item;
}

// What enters each layer of the joint encoder.
std::vector<Rows> InputsOfLayers(const LoadedModel& loaded, const EncoderInput& input) {
  std::vector<Rows> layers;
  EncoderItem item;
  item.ids = input.ids;
  item.numbers = input.numbers;
  item.nodes = input.nodes;
  const int64_t width = loaded.config().encoder->d_model;
  const Sinks sinks = {nullptr, [&](bool, int64_t, const float* x_RD, int64_t rows) {
                         Rows& kept = layers.emplace_back();
                         for (int64_t r = 0; r < rows; ++r)
                           kept.emplace_back(x_RD + r * width, x_RD + (r + 1) * width);
                       }};
  Activations activations;
  Encode(loaded.weights, {&item, 1}, sinks, &activations);
  return layers;
}

std::vector<double> Normalized(const std::vector<double>& x_D, const TensorTable& tensors,
                               const std::string& name, double epsilon) {
  double mean = 0, variance = 0;
  for (const double x : x_D) mean += x / static_cast<double>(x_D.size());
  for (const double x : x_D) variance += (x - mean) * (x - mean) / static_cast<double>(x_D.size());
  std::vector<double> y_D;
  for (size_t d = 0; d < x_D.size(); ++d) {
    y_D.push_back((x_D[d] - mean) / std::sqrt(variance + epsilon) *
                      tensors.Get(name + ".weight").f32()[d] +
                  tensors.Get(name + ".bias").f32()[d]);
  }
  return y_D;
}

std::vector<double> Times(const std::vector<double>& x_D, const TensorTable& tensors,
                          const std::string& name) {
  const TensorView& weight = tensors.Get(name + ".weight");
  std::vector<double> y;
  for (int64_t out = 0; out < weight.shape[0]; ++out) {
    double sum = tensors.Get(name + ".bias").f32()[out];
    for (size_t d = 0; d < x_D.size(); ++d)
      sum += x_D[d] * weight.f32()[out * weight.shape[1] + static_cast<int64_t>(d)];
    y.push_back(sum);
  }
  return y;
}

// What a head's first row gives to all rows: section 3.2.1 of the paper, by its formula.
std::vector<double> FirstRowOf(const Model& model, const Rows& x_RD, int64_t layer, int64_t head) {
  const StackConfig& stack = *model.config.encoder;
  const std::string name = "encoder.layers." + std::to_string(layer) + ".self_attention";
  const int64_t width = stack.d_model / stack.heads;
  std::vector<double> query, weights;
  double sum = 0;
  for (const std::vector<double>& x_D : x_RD) {
    const std::vector<double> y_D =
        Normalized(x_D, model.tensors, name + "_norm", stack.norm_epsilon);
    if (query.empty()) query = Times(y_D, model.tensors, name + ".query");
    const std::vector<double> key = Times(y_D, model.tensors, name + ".key");
    double score = 0;
    for (int64_t k = head * width; k < (head + 1) * width; ++k) score += query[k] * key[k];
    weights.push_back(std::exp(score / std::sqrt(static_cast<double>(width))));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

TEST(ItemAttention, IsWhatTheFormulaGives) {
  const auto model = MakeItemModel();
  const ItemReader reader(Load(model, {.instruction_set = "reference"}));
  const ClassifiedItem item = WholeItem();
  const ItemAttention found = AttentionOfItem(reader, item);
  const std::vector<Rows> inputs = InputsOfLayers(reader.loaded(), reader.Read(item).input);
  const StackConfig& stack = *model->config.encoder;
  ASSERT_EQ(std::ssize(found.rows.heads), stack.layers);
  for (int64_t layer = 0; layer < stack.layers; ++layer) {
    ASSERT_EQ(std::ssize(found.rows.heads[layer]), stack.heads);
    for (int64_t head = 0; head < stack.heads; ++head) {
      const std::vector<double> wanted = FirstRowOf(*model, inputs[layer], layer, head);
      EXPECT_THAT(found.rows.heads[layer][head],
                  testing::Pointwise(testing::DoubleNear(1e-4), wanted));
    }
  }
}

// Which rows are whose: what enters the first layer ends in the linked nodes' vectors.
TEST(ItemAttention, RowsAreSummaryTextPictureLinks) {
  const auto model = MakeItemModel();
  const ItemReader reader(Load(model));
  const ItemAttention found = AttentionOfItem(reader, WholeItem());
  const Rows x_RD = InputsOfLayers(reader.loaded(), reader.Read(WholeItem()).input)[0];
  EXPECT_EQ(x_RD.size(), 1 + found.pieces.size() + 4 + 2);
  EXPECT_FLOAT_EQ(x_RD[0][5], model->tensors.Get("encoder.summary").f32()[5]);
  EXPECT_THAT(found.links, ElementsAre("weaver", "silk"));
  const TensorView& nodes = model->tensors.Get("encoder.nodes.weight");
  for (size_t i = 0; i < 2; ++i) {
    const int64_t row = i == 0 ? 3 : 1;
    EXPECT_FLOAT_EQ(x_RD[x_RD.size() - 2 + i][7], nodes.f32()[row * nodes.shape[1] + 7]);
  }
}

TEST(ItemAttention, JsonHasAllRowsOfEachInput) {
  const ItemReader reader(Load(MakeItemModel()));
  const ItemAttention found = AttentionOfItem(reader, WholeItem());
  const Json json = ItemAttentionToJson(found, 4);
  const std::vector<int64_t> words = json["text"]["piece_words"];
  EXPECT_THAT(json["text"]["words"], ElementsAre("lumi", "tavo", "kesi"));
  EXPECT_EQ(words.front(), -1);
  EXPECT_EQ(words.back(), -1);
  EXPECT_EQ(words[words.size() - 2], 2);
  EXPECT_EQ(json["text"]["pieces"].size(), words.size());
  EXPECT_EQ(json["picture"]["rows"], 2);
  EXPECT_EQ(json["picture"]["columns"], 2);
  EXPECT_EQ(json["links"]["nodes"], Json({"weaver", "silk"}));
  const auto sum_of = [](const Json& map) {
    double sum = 0;
    for (const Json& share : map) sum += share.get<double>();
    return sum;
  };
  double rollout = json["shares"]["summary"]["rollout"];
  for (const char* input : {"text", "picture", "links"}) {
    EXPECT_NEAR(sum_of(json[input]["rollout"]), json["shares"][input]["rollout"], 1e-6);
    EXPECT_NEAR(sum_of(json[input]["heads"][1][2]), json["shares"][input]["heads"][1][2], 1e-6);
    rollout += json["shares"][input]["rollout"].get<double>();
  }
  EXPECT_NEAR(rollout, 1, 1e-5);
}

TEST(ItemAttention, AnInputThatLacksHasNoRows) {
  const ItemReader reader(Load(MakeItemModel()));
  ClassifiedItem item;
  item.links = {"silk"};
  const Json json = ItemAttentionToJson(AttentionOfItem(reader, item), 4);
  EXPECT_TRUE(json["text"].is_null() && json["picture"].is_null());
  EXPECT_EQ(json["links"]["rollout"].size(), 1u);
  EXPECT_EQ(json["shares"]["text"]["rollout"], 0);
  item.links = {"silc"};
  EXPECT_THROW(AttentionOfItem(reader, item), Error);
  item.links.clear();
  item.text.emplace();
  for (int word = 0; word < 1100; ++word) *item.text += "lumi ";
  EXPECT_THROW(AttentionOfItem(reader, item), Error);
}

}  // namespace
}  // namespace attend
