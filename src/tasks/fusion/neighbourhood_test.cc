#include "tasks/fusion/neighbourhood.h"

#include <gmock/gmock.h>

#include "attend/error.h"
#include "base/files.h"
#include "model/config_file.h"
#include "tasks/label_model_fixture.h"
#include "tasks/quantize_directory.h"

namespace attend {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// A hub with many triples, and a node with one beside the one to the hub.
Model StarModel(int around) {
  Model model;
  std::vector<std::string>& nodes = model.config.fusion.emplace().nodes;
  nodes = {"hub", "lonely", "silk", "weaver"};
  for (int i = 0; i < around; ++i) {
    nodes.push_back("place " + std::to_string(i));
    model.graph += "hub\tsells to\t" + nodes.back() + "\n";
  }
  model.graph += "hub\tuses\tsilk\nweaver\tuses\tsilk\nweaver\tlives in\tplace 0\n";
  return model;
}

TEST(Neighbourhood, IsOneRelationAround) {
  const Model model = StarModel(2);
  const GraphNeighbours graph(model);
  const std::vector<std::string> links = {"weaver"};
  const Neighbourhood found = graph.Around(links);
  EXPECT_THAT(found.triples, UnorderedElementsAre(ElementsAre("weaver", "uses", "silk"),
                                                  ElementsAre("weaver", "lives in", "place 0")));
  EXPECT_EQ(found.left_out, 0);
  const std::vector<std::string> without = {"lonely", "no node"};
  EXPECT_TRUE(graph.Around(without).triples.empty());
  EXPECT_EQ(NeighbourhoodToJson(found)["triples"][0].size(), 3u);
}

TEST(Neighbourhood, IsBoundedAndDividedFairly) {
  const Model model = StarModel(100);
  const GraphNeighbours graph(model);
  const std::vector<std::string> links = {"hub", "weaver", "silk", "hub"};
  const Neighbourhood found = graph.Around(links, 6);
  // Those between linked nodes first; then the nodes take turns.
  EXPECT_THAT(found.triples[0], ElementsAre("hub", "uses", "silk"));
  EXPECT_THAT(found.triples[1], ElementsAre("weaver", "uses", "silk"));
  EXPECT_EQ(found.triples.size(), 6u);
  EXPECT_THAT(found.triples, testing::Contains(ElementsAre("weaver", "lives in", "place 0")));
  EXPECT_EQ(found.left_out, 103 - 6);
  EXPECT_EQ(graph.Around(links).triples.size(), GraphNeighbours::kMostTriples);
  // Each relation comes before a second one of the same kind.
  const std::vector<std::string> hub = {"hub"};
  EXPECT_THAT(graph.Around(hub, 2).triples,
              UnorderedElementsAre(ElementsAre("hub", "sells to", "place 0"),
                                   ElementsAre("hub", "uses", "silk")));
}

class GraphOfAModel : public FolderTest {};

TEST_F(GraphOfAModel, GoesWithItsDirectory) {
  auto model = MakeItemModel();
  model->graph = "weaver\tlives in\tvillage\nweaver\tuses\tsilk\n";
  SaveModel(*model, folder_ / "model");
  EXPECT_EQ(LoadModel(folder_ / "model")->graph, model->graph);
  EXPECT_TRUE(CheckDigests(folder_ / "model").empty());
  QuantizeDirectory(folder_ / "model", folder_ / "int8");
  EXPECT_EQ(LoadModel(folder_ / "int8")->graph, model->graph);
  WriteFileAtomically(folder_ / "model" / kGraphFile, "weaver\tuses\tsilc\n");
  EXPECT_EQ(CheckDigests(folder_ / "model").size(), 1u);
  try {
    LoadModel(folder_ / "model");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("graph.tsv: line 1: 'silc' is no node"));
  }
}

TEST_F(GraphOfAModel, IsOfFusionAlone) {
  Model model = SmallModel();
  model.graph = "weaver\tuses\tsilk\n";
  EXPECT_THROW(SaveModel(model, folder_ / "model"), Error);
}

}  // namespace
}  // namespace attend
