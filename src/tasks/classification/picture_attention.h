// What a model of pictures looks at, as maps over the patches of the picture.
#ifndef ATTEND_TASKS_CLASSIFICATION_PICTURE_ATTENTION_H_
#define ATTEND_TASKS_CLASSIFICATION_PICTURE_ATTENTION_H_

#include <cstdint>
#include <vector>

#include "attend/model_config.h"
#include "attend/scorer.h"
#include "base/json.h"
#include "media/picture.h"

namespace attend {

using AttentionMaps = std::vector<std::vector<std::vector<float>>>;
// [layers][heads][numbers]
Json MapsToJson(const AttentionMaps& maps);

// Numbers of the patches, row by row. P of a map: rows * columns.
struct PictureAttention {
  int64_t rows = 0, columns = 0;  // of patches
  // What each head gives to each patch: by the class token, if the class is read from it
  // (Pooling::kFirst), else the mean over all rows. [layers][heads][P]; with a class token a map
  // adds to less than 1, because that token is looked at, too.
  AttentionMaps heads;
  // How much of each patch comes into what the class is told by, through all layers: attention
  // rollout (Abnar and Zuidema 2020, section 3). [P]
  std::vector<float> rollout;
};

PictureAttention PictureAttentionOf(const AttentionWeights& weights, const ModelConfig& config);

// {"picture", "rows", "columns", "heads", "rollout"}; the picture is what the model read, as the
// URL of a PNG ("data:image/png;base64,...").
Json PictureAttentionToJson(const PictureAttention& attention, const Picture& picture);

}  // namespace attend

#endif  // ATTEND_TASKS_CLASSIFICATION_PICTURE_ATTENTION_H_
