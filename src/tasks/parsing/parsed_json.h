// A tree in JSON, as `attend parse` and the service give it.
#ifndef ATTEND_TASKS_PARSING_PARSED_JSON_H_
#define ATTEND_TASKS_PARSING_PARSED_JSON_H_

#include "attend/tagger.h"
#include "base/json.h"

namespace attend {

Json ParsedToJson(const ParsedText& parsed);

}  // namespace attend

#endif  // ATTEND_TASKS_PARSING_PARSED_JSON_H_
