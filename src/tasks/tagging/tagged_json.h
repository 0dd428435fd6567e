// Labels of a text in JSON, as `attend tag` and the service give them.
#ifndef ATTEND_TASKS_TAGGING_TAGGED_JSON_H_
#define ATTEND_TASKS_TAGGING_TAGGED_JSON_H_

#include <string>

#include "attend/tagger.h"
#include "base/json.h"

namespace attend {

// False: labels of another kind, which are told word by word.
bool LabelsEntities(const Tagger& tagger);
Json TaggedToJson(const std::string& text, const TaggedText& tagged, bool words);

}  // namespace attend

#endif  // ATTEND_TASKS_TAGGING_TAGGED_JSON_H_
