// config.json of a model directory: what the model is, and the digests of the files beside it.
#ifndef ATTEND_MODEL_CONFIG_FILE_H_
#define ATTEND_MODEL_CONFIG_FILE_H_

#include <cstddef>
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
// A parsed JSON value takes up to some fifty times its text: what these bound is memory.
inline constexpr size_t kMaxConfigBytes = size_t{1} << 22, kMaxSampleBytes = size_t{1} << 22;
inline constexpr const char* kTensorFile = "model.safetensors";
inline constexpr const char* kAdapterFile = "adapter.safetensors";
inline constexpr const char* kJointVocabularyFile = "vocab.spm";
inline constexpr const char* kSourceVocabularyFile = "source.spm";
inline constexpr const char* kTargetVocabularyFile = "target.spm";
inline constexpr const char* kSampleFile = "samples.json";
inline constexpr const char* kGraphFile = "graph.tsv";
// What config.json may list.
inline constexpr const char* kListedFiles[] = {
    kTensorFile, kAdapterFile, kJointVocabularyFile, kSourceVocabularyFile, kTargetVocabularyFile,
    kSampleFile, kGraphFile};

inline constexpr int64_t kMostAdapterRank = 1 << 16;
inline constexpr double kLeastAdapterAlpha = 1e-6, kMostAdapterAlpha = 1e6;

// What an adapter's config.json says beside what a model's does; see model/adapter.h.
struct AdapterFacts {
  std::string base_sha256;  // of the base's model.safetensors
  int64_t rank = 0;
  double alpha = 0;
  bool head = false;                  // the head is the adapter's own
  std::vector<std::string> matrices;  // names of those that it changes

  double scale() const { return alpha / static_cast<double>(rank); }
};

struct ConfigFile {
  int64_t format_version = 0;
  ModelConfig model;
  Json tokenization;
  Json provenance;
  std::optional<TrainingText> training_text;
  std::optional<AdapterFacts> adapter;                       // none: a model's
  std::vector<std::pair<std::string, std::string>> digests;  // file name, SHA-256

  bool Lists(std::string_view name) const { return !DigestOf(name).empty(); }
  std::string DigestOf(std::string_view name) const;  // empty: it does not list the file
};

// Throws Error(kInput) with "where: message".
[[noreturn]] void Damaged(const std::string& where, const std::string& message);

// Every field, nested; "encoder" or "decoder" is null where the model has none.
Json ModelConfigToJson(ModelConfig config);
// The same back, every field of this version's; throws as ParseConfigFile does.
ModelConfig ModelConfigFromJson(const Json& object, const std::string& where);
// Every field, nested; null where there is none.
Json TrainingTextToJson(std::optional<TrainingText> text);
Json AdapterFactsToJson(AdapterFacts facts);

// Throws Error(kInput) that opens with `where`: bad JSON, a newer format version, a key that is
// unknown (with the nearest known one) or missing, a value of the wrong type or range, a model that
// makes no sense, a list of files that is no model's, or no adapter's where it is one's.
ConfigFile ParseConfigFile(std::string_view text, const std::string& where);

}  // namespace attend

#endif  // ATTEND_MODEL_CONFIG_FILE_H_
