#include "train/tasks/translation/guided_alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "attend/error.h"
#include "train/tasks/translation/translation_train_options.h"

namespace attend {

nn::LinkedKeys LinksOf(const Examples& examples, int64_t targets, int64_t sources) {
  std::vector<int64_t> places;
  std::vector<float> weights;
  std::vector<int64_t> links_of;  // by target
  for (int64_t b = 0; b < examples.size(); ++b) {
    const std::span<const int32_t> links = examples[b].Ids(2);  // source and target in turn
    links_of.assign(targets + 1, 0);
    for (size_t i = 0; i < links.size(); i += 2) ++links_of[links[i + 1]];
    for (size_t i = 0; i < links.size(); i += 2) {
      const int64_t row = links[i + 1];  // which has just read the target: ModelConfig
      places.push_back((b * targets + row) * sources + links[i]);
      weights.push_back(1 / static_cast<float>(links_of[links[i + 1]]));
    }
  }
  return {torch::tensor(places, torch::kInt64), torch::tensor(weights, torch::kFloat32)};
}

void CompleteAlignmentLayer(TrainOptions* options) {
  const TranslationTrainOptions& own = TranslationOf(*options);
  if (own.guided_alignment_weight == 0) return;
  ModelConfig& model = options->model;
  const int64_t layers = model.decoder->layers;
  if (own.guided_alignment_layer > layers) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("guided_alignment_layer is {}, expected at most {}, the decoder's "
                            "layers, or 0 for the last but one",
                            own.guided_alignment_layer, layers));
  }
  if (own.guided_alignment_layer > 0) model.alignment_layer = own.guided_alignment_layer;
  if (model.alignment_layer == 0) model.alignment_layer = std::max<int64_t>(layers - 1, 1);
}

}  // namespace attend
