// What a model looks at in a picture, for people: SVG of one layer, an HTML page of all, or
// numbers.
#ifndef ATTEND_CLI_ATTENTION_VIEW_PICTURE_VIEW_H_
#define ATTEND_CLI_ATTENTION_VIEW_PICTURE_VIEW_H_

#include <cstdint>
#include <string>

#include "base/json.h"
#include "media/picture.h"
#include "tasks/classification/picture_attention.h"

namespace attend {

struct PictureView {
  std::string name;  // of the picture
  std::string told;  // the model's answer
  Picture picture;   // as the model reads it
  PictureAttention attention;
};

// As PictureAttentionToJson, with "name" and "told".
Json PictureViewToJson(const PictureView& view);

// The picture, attention rollout, and a panel for each head of one layer, counted from 1; 0 is the
// last. Throws Error(kUsage) for a layer that is not there.
std::string PictureViewToSvg(const PictureView& view, int64_t layer);

// A page that needs no network, opened at one layer.
std::string PictureViewToHtml(const PictureView& view, int64_t layer);

}  // namespace attend

#endif  // ATTEND_CLI_ATTENTION_VIEW_PICTURE_VIEW_H_
