#include "model/config_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "attend/error.h"
#include "base/edit_distance.h"
#include "base/excerpt.h"
#include "model/config_fields.h"
#include "model/model_directory.h"

namespace attend {
namespace {

// Every member of `expected`, nested objects included, and none but those, stands in `found`.
void CheckKeys(const Json& found, const Json& expected, const std::string& prefix, int64_t version,
               const std::string& where) {
  if (!found.is_object())
    Damaged(where, fmt::format("'{}' is not a JSON object", prefix.empty() ? "it" : prefix));
  const auto full = [&](const std::string& key) {
    return prefix.empty() ? key : prefix + "." + key;
  };
  std::vector<std::string> names;
  for (const auto& [key, value] : expected.items()) names.push_back(key);
  for (const auto& [key, value] : found.items()) {
    if (!expected.contains(key)) {
      Damaged(where, fmt::format("key '{}' is unknown to format_version {}{}", Excerpt(full(key)),
                                 version, DidYouMean(key, names)));
    }
  }
  for (const auto& [key, value] : expected.items()) {
    if (!found.contains(key)) Damaged(where, fmt::format("key '{}' is missing", full(key)));
    if (value.is_object()) CheckKeys(found.at(key), value, full(key), version, where);
  }
}

// Leaves what format_version 1 and 2 had.
void RemoveKeysOf3(Json* model) {
  for (const char* key :
       {"head_transform", "head_pooler", "pooling", "labels", "label_scheme", "crf"})
    model->erase(key);
  for (const char* stack : {"encoder", "decoder"})
    if (Json& config = (*model)[stack]; !config.is_null()) config.erase("embedding_norm");
}

// Leaves what versions before 4 had.
void RemoveKeysOf4(Json* model) {
  for (const char* stack : {"encoder", "decoder"})
    if (Json& config = (*model)[stack]; !config.is_null()) config.erase("recurrence");
}

// Leaves what versions before 5 had.
void RemoveKeysOf5(Json* model) { model->erase("source_eos"); }

// Leaves what versions before 6 had.
void RemoveKeysOf6(Json* model) {
  for (const char* key : {"source_begin", "source_end", "target_begin"}) model->erase(key);
  for (const char* stack : {"encoder", "decoder"}) {
    if (Json& config = (*model)[stack]; !config.is_null()) {
      for (const char* key : {"relative_buckets", "relative_max_distance"}) config.erase(key);
    }
  }
}

// Leaves what versions before 7 had.
void RemoveKeysOf7(Json* model) { model->erase("pooler_activation"); }

// Leaves what versions before 8 had.
void RemoveKeysOf8(Json* model) {
  for (const char* key : {"architecture", "constituents", "tags", "next_word_input"})
    model->erase(key);
  for (const char* stack : {"encoder", "decoder"}) {
    if (Json& config = (*model)[stack]; !config.is_null())
      for (const char* key : {"kernel_width", "attention_window"}) config.erase(key);
  }
}

// Leaves what versions before 9 had.
void RemoveKeysOf9(Json* model) { model->erase("alignment_layer"); }

// Leaves what versions before 10 had.
void RemoveKeysOf10(Json* model) { model->erase("patches"); }

// Leaves what versions before 11 had.
void RemoveKeysOf11(Json* model) {
  for (const char* key : {"frames", "fusion", "suppress_tokens", "begin_suppress_tokens"})
    model->erase(key);
}

// Leaves what versions before 13 had.
void RemoveKeysOf13(Json* model) {
  for (const char* stack : {"/encoder", "/decoder", "/fusion/text", "/fusion/picture"}) {
    const Json::json_pointer place(stack);
    if (model->contains(place) && !(*model)[place].is_null()) (*model)[place].erase("separable");
  }
}

// Leaves what versions before 14 had.
void RemoveKeysOf14(Json* model) {
  if (model->contains("frames") && !(*model)["frames"].is_null())
    (*model)["frames"].erase("longest_seconds");
}

// Values that older versions had not, under keys that they had.
void CheckValues(const ModelConfig& config, int64_t version, const std::string& where) {
  const auto refuse = [&](int64_t first, bool found, const char* what) {
    if (found && version < first)
      Damaged(where, fmt::format("{}, which format_version {} has not", what, version));
  };
  refuse(3, config.head == HeadKind::kLabels, "head is labels");
  for (const auto& stack : {config.encoder, config.decoder}) {
    if (!stack) continue;
    refuse(4, stack->activation > Activation::kSwiGlu,
           "activation is gelu_tanh, silu or geglu_tanh");
    refuse(4, stack->position_convention == SinusoidConvention::kTimingSignal,
           "position_convention is timing_signal");
    refuse(6, stack->norm == NormKind::kRmsNorm, "norm is rms_norm");
    refuse(6, stack->positions == PositionKind::kRelative, "positions is relative");
  }
  refuse(4, config.decoder && config.special_ids.bos < 0, "special_ids.bos is -1");
  refuse(5, config.special_ids.unk < 0, "special_ids.unk is -1");
  refuse(7, config.label_scheme == LabelScheme::kIob, "label_scheme is iob");
}

ModelConfig ConfigFromJson(Json object, int64_t version, const std::string& where) {
  if (!object.is_object()) Damaged(where, "'model' is not a JSON object");
  ModelConfig config;
  TakeParts(object, &config);
  Json expected = ModelConfigToJson(config);
  if (version < 3) RemoveKeysOf3(&expected);
  if (version < 4) RemoveKeysOf4(&expected);
  if (version < 5) RemoveKeysOf5(&expected);
  if (version < 6) RemoveKeysOf6(&expected);
  if (version < 7) RemoveKeysOf7(&expected);
  if (version < 8) RemoveKeysOf8(&expected);
  if (version < 9) RemoveKeysOf9(&expected);
  if (version < 10) RemoveKeysOf10(&expected);
  if (version < 11) RemoveKeysOf11(&expected);
  if (version < 13) RemoveKeysOf13(&expected);
  if (version < 14) RemoveKeysOf14(&expected);
  CheckKeys(object, expected, "model", version, where);
  if (!config.encoder) object.erase("encoder");
  if (!config.decoder) object.erase("decoder");
  if (!config.patches) object.erase("patches");
  if (!config.frames) object.erase("frames");
  if (!config.fusion) object.erase("fusion");
  try {
    FieldsFromJson(object, Fields(config), where);
    CheckValues(config, version, where);
    if (version < 3 && !config.decoder) config.head = HeadKind::kNone;  // which was not read
    CheckModelConfig(config);
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.starts_with(where)) throw Error(ErrorKind::kInput, message);
    Damaged(where, message);
  }
  return config;
}

std::optional<TrainingText> TrainingTextFromJson(const Json& object, int64_t version,
                                                 const std::string& where) {
  if (object.is_null()) return std::nullopt;
  TrainingText text;
  CheckKeys(object, TrainingTextToJson(text), "training_text", version, where);
  try {
    FieldsFromJson(object, Fields(text), where);
  } catch (const Error& error) {
    throw Error(ErrorKind::kInput, error.what());
  }
  return text;
}

bool IsDigest(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

FieldList Fields(AdapterFacts& facts) {
  FieldList fields;
  fields.Add("base_sha256", &facts.base_sha256, "SHA-256 of the base's model.safetensors")
      .Add("rank", &facts.rank, 1, kMostAdapterRank, "rank of what is added to a matrix")
      .Add("alpha", &facts.alpha, kLeastAdapterAlpha, kMostAdapterAlpha,
           "what is added is times alpha / rank")
      .Add("head", &facts.head, "the head is the adapter's own")
      .Add("matrices", &facts.matrices, "names of the matrices that are changed");
  return fields;
}

// `object`: the whole config.json.
std::optional<AdapterFacts> AdapterFactsFromJson(const Json& object, int64_t version,
                                                 const std::string& where) {
  if (!object.contains("adapter")) return std::nullopt;
  AdapterFacts facts;
  CheckKeys(object["adapter"], AdapterFactsToJson(facts), "adapter", version, where);
  FieldList fields;
  fields.Nest("adapter", Fields(facts));
  try {
    FieldsFromJson({{"adapter", object["adapter"]}}, fields, where);
  } catch (const Error& error) {
    throw Error(ErrorKind::kInput, error.what());
  }
  if (!IsDigest(facts.base_sha256)) {
    Damaged(where, fmt::format("adapter.base_sha256 is '{}', expected 64 digits 0-9a-f",
                               Excerpt(facts.base_sha256)));
  }
  std::set<std::string> names;
  for (const std::string& name : facts.matrices) {
    if (!names.insert(name).second)
      Damaged(where, fmt::format("adapter.matrices has '{}' twice", Excerpt(name)));
  }
  return facts;
}

int64_t VersionOf(const Json& object, const std::string& where) {
  if (!object.is_object() || !object.contains("format_version"))
    Damaged(where, "key 'format_version' is missing: not a model of attend");
  const Json& version = object["format_version"];
  if (!version.is_number_unsigned() || version == 0) {
    Damaged(where, fmt::format("format_version is {}, expected a whole number from 1",
                               Excerpt(version.dump())));
  }
  if (version.get<uint64_t>() > kFormatVersion) {
    Damaged(where,
            fmt::format("format_version is {}, but this attend reads up to {}: use a newer attend",
                        version.get<uint64_t>(), kFormatVersion));
  }
  return version.get<int64_t>();
}

std::vector<std::pair<std::string, std::string>> DigestsFromJson(const Json& object,
                                                                 const std::string& where) {
  static const std::vector<std::string> known(std::begin(kListedFiles), std::end(kListedFiles));
  std::vector<std::pair<std::string, std::string>> digests;
  if (!object.is_object()) Damaged(where, "'sha256' is not a JSON object");
  for (const auto& [name, value] : object.items()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      Damaged(where, fmt::format("sha256 lists '{}', which is no file of a model{}", Excerpt(name),
                                 DidYouMean(name, known)));
    }
    const std::string digest = value.is_string() ? value.get<std::string>() : "";
    if (!IsDigest(digest)) {
      Damaged(where, fmt::format("sha256 of '{}' is {}, expected 64 digits 0-9a-f", name,
                                 Excerpt(value.dump())));
    }
    digests.emplace_back(name, digest);
  }
  return digests;
}

// An adapter has a file of its own in place of the weights, and the vocabularies of its base.
void CheckListedFiles(const ConfigFile& config, const std::string& where) {
  const char* const weights = config.adapter ? kAdapterFile : kTensorFile;
  const char* const foreign = config.adapter ? kTensorFile : kAdapterFile;
  if (!config.Lists(weights)) Damaged(where, fmt::format("sha256 does not list '{}'", weights));
  if (config.Lists(foreign)) {
    Damaged(where, fmt::format("sha256 lists '{}', which is no file of {}", foreign,
                               config.adapter ? "an adapter" : "a model"));
  }
  std::vector<std::string> listed;
  for (const char* name : {kJointVocabularyFile, kSourceVocabularyFile, kTargetVocabularyFile}) {
    if (config.Lists(name)) listed.emplace_back(name);
  }
  if (config.Lists(kGraphFile) && (config.adapter || !config.model.fusion)) {
    Damaged(where,
            fmt::format("sha256 lists {}, which only a model of task fusion has", kGraphFile));
  }
  if (config.adapter && !listed.empty()) {
    Damaged(where, fmt::format("sha256 lists {}, expected no vocabulary: an adapter has its base's",
                               fmt::join(listed, " ")));
  }
  const bool joint = config.Lists(kJointVocabularyFile),
             source = config.Lists(kSourceVocabularyFile),
             target = config.Lists(kTargetVocabularyFile);
  if (source != target || (joint && source)) {
    Damaged(where, fmt::format("sha256 lists {}, expected {}, or {} and {}", fmt::join(listed, " "),
                               kJointVocabularyFile, kSourceVocabularyFile, kTargetVocabularyFile));
  }
}

}  // namespace

void Damaged(const std::string& where, const std::string& message) {
  throw Error(ErrorKind::kInput, fmt::format("{}: {}", where, message));
}

Json ModelConfigToJson(ModelConfig config) {
  Json object = FieldsToJson(Fields(config));
  for (const char* part : {"patches", "frames", "fusion", "encoder", "decoder"}) {
    if (!object.contains(part)) object[part] = nullptr;
  }
  return object;
}

Json TrainingTextToJson(std::optional<TrainingText> text) {
  return text ? FieldsToJson(Fields(*text)) : Json();
}

Json AdapterFactsToJson(AdapterFacts facts) { return FieldsToJson(Fields(facts)); }

std::string ConfigFile::DigestOf(std::string_view name) const {
  const auto found = std::ranges::find(digests, name, [](const auto& one) { return one.first; });
  return found == digests.end() ? "" : found->second;
}

ModelConfig ModelConfigFromJson(const Json& object, const std::string& where) {
  return ConfigFromJson(object, kFormatVersion, where);
}

ConfigFile ParseConfigFile(std::string_view text, const std::string& where) {
  const Json object = ParseJson(text, where);
  const int64_t version = VersionOf(object, where);
  Json keys = {{"format_version", 1},
               {"model", nullptr},
               {"tokenization", nullptr},
               {"provenance", nullptr},
               {"sha256", nullptr}};
  if (version >= 2) keys["training_text"] = nullptr;
  if (version >= 7 && object.contains("adapter")) keys["adapter"] = nullptr;
  CheckKeys(object, keys, "", version, where);
  for (const char* name : {"tokenization", "provenance"}) {
    if (!object[name].is_object()) Damaged(where, fmt::format("'{}' is not a JSON object", name));
  }
  ConfigFile config{version,
                    ConfigFromJson(object["model"], version, where),
                    object["tokenization"],
                    object["provenance"],
                    TrainingTextFromJson(object.value("training_text", Json()), version, where),
                    AdapterFactsFromJson(object, version, where),
                    DigestsFromJson(object["sha256"], where)};
  CheckListedFiles(config, where);
  return config;
}

}  // namespace attend
