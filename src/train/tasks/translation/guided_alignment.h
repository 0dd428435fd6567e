// Guided alignment: one layer's cross-attention learns which words translate which. Where the
// decoder has just read a token, the layer looks at what that token translates (Chen et al. 2020,
// "Accurate Word Alignment Induction from Neural Machine Translation", section 3): the row before,
// which writes the token, would have to guess it.
#ifndef ATTEND_TRAIN_TASKS_TRANSLATION_GUIDED_ALIGNMENT_H_
#define ATTEND_TRAIN_TASKS_TRANSLATION_GUIDED_ALIGNMENT_H_

#include <cstdint>

#include "attend/model_config.h"
#include "attend/nn/loss.h"
#include "data/example_table.h"
#include "train/train_options.h"

namespace attend {

// Of pairs whose third column holds links, as EncodedLine has them; `targets` and `sources` are the
// widths of the padded weights. A target's links count the same.
nn::LinkedKeys LinksOf(const Examples& examples, int64_t targets, int64_t sources);

// Sets the layer in `options`, where one is guided: what guided_alignment_layer says, or the layer
// of the model to fine-tune, or the last but one. Throws Error(kConfiguration) where there is none.
void CompleteAlignmentLayer(TrainOptions* options);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TRANSLATION_GUIDED_ALIGNMENT_H_
