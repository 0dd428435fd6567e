// The languages that models translate between, where two models are to fit together.
#ifndef ATTEND_TASKS_TRANSLATION_DIRECTIONS_H_
#define ATTEND_TASKS_TRANSLATION_DIRECTIONS_H_

#include <string>

#include "attend/model_config.h"

namespace attend {

// Models that name no languages fit all others. `named`: what messages call the model, "the reverse
// model". Both throw Error(kUsage).
void CheckSameDirection(const ModelConfig& first, const ModelConfig& model,
                        const std::string& named);
void CheckOppositeDirection(const ModelConfig& first, const ModelConfig& reverse,
                            const std::string& named);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_DIRECTIONS_H_
