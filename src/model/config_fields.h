// The one declaration of ModelConfig's fields: names, ranges and help for config.json, TOML, the
// command line and documents.
#ifndef ATTEND_MODEL_CONFIG_FIELDS_H_
#define ATTEND_MODEL_CONFIG_FIELDS_H_

#include "attend/model_config.h"
#include "base/fields.h"

namespace attend {

FieldList Fields(StackConfig& config);
FieldList Fields(SpecialIds& ids);
// Of what stands on the last stack: a model that is trained on for another task begins it anew.
FieldList HeadFields(ModelConfig& config);
// What they say, and what the output layer shares with an embedding.
void TakeHead(ModelConfig from, ModelConfig* to);
// The stacks that are present are nested under `encoder.` and `decoder.`.
FieldList Fields(ModelConfig& config);

}  // namespace attend

#endif  // ATTEND_MODEL_CONFIG_FIELDS_H_
