// A model of items that have a text, a picture and links to nodes of a graph, or some of them:
// encoders of each, and one that joins their rows.
#ifndef ATTEND_NN_FUSION_MODEL_H_
#define ATTEND_NN_FUSION_MODEL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "attend/model_config.h"
#include "attend/nn/dropout.h"
#include "attend/nn/head.h"
#include "attend/nn/relational_graph.h"
#include "attend/nn/stacks.h"
#include "attend/nn/torch.h"

namespace attend::nn {

// What a batch's items have, one item after another.
struct PackedItems {
  // Rows that an item has beside its summary; 0: the input is missing.
  struct Lengths {
    int64_t text = 0, picture = 0, nodes = 0;
  };
  std::vector<Lengths> items;
  PackedIds texts, pictures;   // of those that have one; undefined where none has
  std::vector<int64_t> nodes;  // numbers of the linked ones
};

// What a pass draws its dropout from: the rows that the whole batch has before its first item.
struct FusionDropoutKey {
  uint64_t seed = 0;
  int64_t text_row = 0, picture_row = 0, joint_row = 0;
};

struct FusionOutput {
  // What one input alone says of the items that have it.
  struct Alone {
    torch::Tensor logits_AL;
    torch::Tensor items_A;  // which these are
  };

  torch::Tensor logits_BL;
  std::vector<Alone> alone;  // of each input that an item has; none without LearnAlone
  // Of the items that have both, in their order; undefined where none has, and without a
  // shared_width.
  torch::Tensor texts_PW, pictures_PW;
};

// Parameters have the names of the model file, except for those of `graph`, for the file has the
// vectors that the graph gives, and those that LearnScale and LearnAlone add, which it has not. Of
// a CPU alone.
class FusionModelImpl : public torch::nn::Module {
 public:
  // With a graph its network makes the nodes' vectors; else they are parameters. Weights follow
  // from `seed` alone. Throws Error(kConfiguration) for a configuration that makes no sense.
  explicit FusionModelImpl(const ModelConfig& config, const std::optional<GraphShape>& shape = {},
                           const Dropout& dropout = {}, uint64_t seed = 1);

  // The nodes' vectors [N, D]; undefined where the model has no nodes.
  torch::Tensor Nodes(const std::optional<uint64_t>& seed = {});
  FusionOutput Read(const PackedItems& items, const std::optional<FusionDropoutKey>& key = {});
  // Of the labels, [B, L].
  torch::Tensor forward(const PackedItems& items, const std::optional<FusionDropoutKey>& key = {});
  // The vectors [., W] that texts and pictures share, each of length 1. Precondition: the model has
  // a shared_width.
  torch::Tensor TextVectors(const PackedIds& texts);
  torch::Tensor PictureVectors(const PackedIds& pictures);
  // Makes log_scale a parameter, as CLIP's begins.
  void LearnScale();
  // Adds a head of each input's own, which reads the mean of its encoder's rows, or of the linked
  // nodes' vectors. They begin with zeros.
  void LearnAlone();

  const ModelConfig& config() const { return config_; }

  TransformerEncoder text{nullptr}, picture{nullptr}, encoder{nullptr};
  torch::Tensor summary;  // [D]
  LinearLayer from_text{nullptr}, from_picture{nullptr};
  torch::nn::Embedding nodes{nullptr};  // empty with a graph
  RelationalGraph graph{nullptr};
  Head head{nullptr};
  LinearLayer text_projection{nullptr}, picture_projection{nullptr};  // empty: no shared_width
  torch::Tensor log_scale;  // of ContrastiveLoss; undefined where it is not learned
  LinearLayer text_head{nullptr}, picture_head{nullptr}, links_head{nullptr};  // empty: not learned

 private:
  // What the encoders below make of a batch, undefined where it has none.
  struct Parts {
    torch::Tensor text_RD, picture_RD, nodes_ND;
  };
  Parts Encode(const PackedItems& items, const std::optional<FusionDropoutKey>& key);
  // What the joint encoder makes of the items' summaries, [B, D].
  torch::Tensor Summaries(const PackedItems& items, const Parts& parts,
                          const std::optional<FusionDropoutKey>& key);
  std::vector<FusionOutput::Alone> EachAlone(const PackedItems& items, const Parts& parts);

  ModelConfig config_;
  double embedding_dropout_;
};
TORCH_MODULE(FusionModel);

}  // namespace attend::nn

#endif  // ATTEND_NN_FUSION_MODEL_H_
