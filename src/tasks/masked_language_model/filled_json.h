// A text with its [MASK] filled in, in JSON, as `attend fill` and the service give it.
#ifndef ATTEND_TASKS_MASKED_LANGUAGE_MODEL_FILLED_JSON_H_
#define ATTEND_TASKS_MASKED_LANGUAGE_MODEL_FILLED_JSON_H_

#include <string>

#include "attend/text_encoder.h"
#include "base/json.h"

namespace attend {

Json FilledToJson(const std::string& text, const FilledText& found);

}  // namespace attend

#endif  // ATTEND_TASKS_MASKED_LANGUAGE_MODEL_FILLED_JSON_H_
