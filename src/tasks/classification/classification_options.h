// The one declaration of what may be asked of a Classifier, for command line and service.
#ifndef ATTEND_TASKS_CLASSIFICATION_CLASSIFICATION_OPTIONS_H_
#define ATTEND_TASKS_CLASSIFICATION_CLASSIFICATION_OPTIONS_H_

#include <cstdint>

#include "base/fields.h"

namespace attend {

struct ClassificationOptions {
  int64_t top = 1;
};

inline FieldList Fields(ClassificationOptions& options) {
  FieldList fields;
  fields.Add("top", &options.top, 1, 1000, "classes to tell of each text, the likeliest first");
  return fields;
}

}  // namespace attend

#endif  // ATTEND_TASKS_CLASSIFICATION_CLASSIFICATION_OPTIONS_H_
