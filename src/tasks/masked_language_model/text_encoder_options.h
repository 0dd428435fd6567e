// The one declaration of what may be asked of a TextEncoder, for command line, Python and service.
#ifndef ATTEND_TASKS_MASKED_LANGUAGE_MODEL_TEXT_ENCODER_OPTIONS_H_
#define ATTEND_TASKS_MASKED_LANGUAGE_MODEL_TEXT_ENCODER_OPTIONS_H_

#include <cstdint>

#include "attend/text_encoder.h"
#include "base/fields.h"

namespace attend {

struct FillOptions {
  int64_t top = 5;
};

inline FieldList Fields(FillOptions& options) {
  FieldList fields;
  fields.Add("top", &options.top, 1, 1000, "tokens to tell for each [MASK], the likeliest first");
  return fields;
}

inline FieldList Fields(EmbeddingOptions& options) {
  FieldList fields;
  fields
      .Add("pooling", &options.pooling, {"first", "mean"},
           "a text's vector: the mean of its tokens' vectors, or the first one's")
      .Add("normalize", &options.normalize, "make every vector's length 1");
  return fields;
}

}  // namespace attend

#endif  // ATTEND_TASKS_MASKED_LANGUAGE_MODEL_TEXT_ENCODER_OPTIONS_H_
