// Tokens that the outputs of a model never have, or never begin with, as rules of a search.
#ifndef ATTEND_TASKS_TRANSCRIPTION_SUPPRESSED_TOKENS_H_
#define ATTEND_TASKS_TRANSCRIPTION_SUPPRESSED_TOKENS_H_

#include <memory>

#include "attend/model_config.h"
#include "search/output_rules.h"

namespace attend {

// By suppress_tokens and begin_suppress_tokens; null where the model has none.
std::shared_ptr<const OutputRules> SuppressedTokens(const ModelConfig& config);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSCRIPTION_SUPPRESSED_TOKENS_H_
