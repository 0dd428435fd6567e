// The one declaration of ModelConfig's fields: names, ranges and help for config.json, TOML, the
// command line and documents.
#ifndef ATTEND_MODEL_CONFIG_FIELDS_H_
#define ATTEND_MODEL_CONFIG_FIELDS_H_

#include "attend/model_config.h"
#include "base/fields.h"
#include "base/json.h"

namespace attend {

FieldList Fields(StackConfig& config);
FieldList Fields(SpecialIds& ids);
FieldList Fields(PatchInput& patches);
FieldList Fields(FrameInput& frames);
FieldList Fields(FusionInput& fusion);
// Of what stands on the last stack: a model that is trained on for another task begins it anew.
FieldList HeadFields(ModelConfig& config);
// Gives a default configuration the parts that a JSON form of another one has, and no others.
void TakeParts(const Json& model, ModelConfig* config);
// What they say, and what the output layer shares with an embedding.
void TakeHead(ModelConfig from, ModelConfig* to);
// What is present of these is nested under `patches.`, `frames.`, `fusion.`, `encoder.` and
// `decoder.`.
FieldList Fields(ModelConfig& config);

}  // namespace attend

#endif  // ATTEND_MODEL_CONFIG_FIELDS_H_
