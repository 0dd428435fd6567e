// config.json of a model directory: what the model is, and the digests of the files beside it.
#ifndef ATTEND_MODEL_CONFIG_FILE_H_
#define ATTEND_MODEL_CONFIG_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/model_config.h"
#include "base/json.h"
#include "model/training_text.h"

namespace attend {

inline constexpr const char* kConfigFile = "config.json";
inline constexpr const char* kTensorFile = "model.safetensors";
inline constexpr const char* kJointVocabularyFile = "vocab.spm";
inline constexpr const char* kSourceVocabularyFile = "source.spm";
inline constexpr const char* kTargetVocabularyFile = "target.spm";
inline constexpr const char* kSampleFile = "samples.json";
// What config.json may list.
inline constexpr const char* kListedFiles[] = {
    kTensorFile, kJointVocabularyFile, kSourceVocabularyFile, kTargetVocabularyFile, kSampleFile};

struct ConfigFile {
  int64_t format_version = 0;
  ModelConfig model;
  Json tokenization;
  Json provenance;
  std::optional<TrainingText> training_text;
  std::vector<std::pair<std::string, std::string>> digests;  // file name, SHA-256

  bool Lists(std::string_view name) const;
};

// Throws Error(kInput) with "where: message".
[[noreturn]] void Damaged(const std::string& where, const std::string& message);

// Every field, nested; "encoder" or "decoder" is null where the model has none.
Json ModelConfigToJson(ModelConfig config);
// The same back, every field of this version's; throws as ParseConfigFile does.
ModelConfig ModelConfigFromJson(const Json& object, const std::string& where);
// Every field, nested; null where there is none.
Json TrainingTextToJson(std::optional<TrainingText> text);

// Throws Error(kInput) that opens with `where`: bad JSON, a newer format version, a key that is
// unknown (with the nearest known one) or missing, a value of the wrong type or range, a model that
// makes no sense, a list of files that is no model's.
ConfigFile ParseConfigFile(std::string_view text, const std::string& where);

}  // namespace attend

#endif  // ATTEND_MODEL_CONFIG_FILE_H_
