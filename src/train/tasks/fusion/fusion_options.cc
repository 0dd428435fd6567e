#include "train/tasks/fusion/fusion_options.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "train/tasks/text_files.h"

namespace attend {

std::unique_ptr<TaskOptions> FusionOptions::Clone() const {
  return std::make_unique<FusionOptions>(*this);
}

FieldList FusionOptions::FieldsFor(const TrainOptions& options) {
  FieldList fields;
  fields.Group("Items")
      .Add("train_items", &train,
           "items to train on, a JSON object a line: id, text, picture, links, label",
           kPath | kRequired)
      .Add("valid_items", &valid, "items to validate on", kPath)
      .Add("test_items", &test, "items to score the finished model on", kPath)
      .Add("input_dropout", &input_dropout, 0, 0.999,
           "share of the items of training that lose their text, and so for picture and links, in "
           "each epoch other ones; none loses all")
      .Add("single_input_weight", &single_input_weight, 0, 1000,
           "how much it counts that each input tells the label by itself, through a head that only "
           "training has, so that none stays unlearned (Wang et al. 2020); 0: nothing")
      .Add("contrastive_weight", &contrastive_weight, 0, 1000,
           "how much it counts that a text is told from others by its picture, and a picture by "
           "its text (CLIP), beside the labels, for vectors of fusion.shared_width; 0: nothing")
      .Nest("augment", Fields(augmentation), kIdentity)
      .Group("Graph")
      .Add("graph", &graph, "triples that links lead into: lines of node, tab, relation, tab, node",
           kPath)
      .Add("graph_width", &graph_width, 1, 1 << 16, "width of a node's vector in the network",
           kIdentity)
      .Add("graph_layers", &graph_layers, 1, 100,
           "layers of the network: a node's vector knows nodes so many relations away", kIdentity)
      .Add("graph_bases", &graph_bases, 1, 1000,
           "matrices that the relations' matrices are sums of", kIdentity)
      .Add("node_dropout", &node_dropout, 0, 0.999,
           "share of the nodes that an update knows by their neighbours alone")
      .Nest("", vocabulary.FieldsFor(options));
  return fields;
}

void FusionOptions::Check(const TrainOptions& options) const {
  CheckOneText(options);
  if (train.empty()) throw Error(ErrorKind::kConfiguration, "train_items is needed");
  CheckNotStandardInput("train_items", train);
  CheckNotStandardInput("valid_items", valid);
  CheckNotStandardInput("test_items", test);
  CheckNotStandardInput("graph", graph);
  if (!options.init.empty()) {
    throw Error(ErrorKind::kConfiguration,
                "init is given, but a model of fusion holds the vectors that its graph's network "
                "made, not the network, and is not trained on; leave init out");
  }
  const auto& fusion = options.model.fusion;
  if (fusion && (fusion->shared_width > 0) != (contrastive_weight > 0)) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("fusion.shared_width is {} and contrastive_weight {}, expected both "
                            "above 0, or neither: the one is what the other trains",
                            fusion->shared_width, contrastive_weight));
  }
  vocabulary.Check(options);
}

FusionOptions& FusionOptionsOf(TrainOptions& options) {
  return dynamic_cast<FusionOptions&>(*options.task);
}

const FusionOptions& FusionOptionsOf(const TrainOptions& options) {
  return dynamic_cast<const FusionOptions&>(*options.task);
}

}  // namespace attend
