// Which labels may follow each other in a model of tagging, and how likely.
#ifndef ATTEND_TASKS_TAGGING_LABEL_TRANSITIONS_H_
#define ATTEND_TASKS_TAGGING_LABEL_TRANSITIONS_H_

#include "model/model_directory.h"
#include "search/label_path.h"

namespace attend {

// -infinity where the scheme forbids it; else the scores of the model's CRF, or 0 without one.
LabelTransitions TransitionsOf(const ModelConfig& config, const TensorTable& tensors);

}  // namespace attend

#endif  // ATTEND_TASKS_TAGGING_LABEL_TRANSITIONS_H_
