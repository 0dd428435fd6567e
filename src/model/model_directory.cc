#include "model/model_directory.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "base/edit_distance.h"
#include "base/excerpt.h"
#include "base/files.h"
#include "base/sha256.h"
#include "model/config_fields.h"
#include "model/safetensors.h"
#include "model/sample.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

constexpr const char* kConfigFile = "config.json";
constexpr const char* kTensorFile = "model.safetensors";
constexpr const char* kJointVocabularyFile = "vocab.spm";
constexpr const char* kSourceVocabularyFile = "source.spm";
constexpr const char* kTargetVocabularyFile = "target.spm";
constexpr const char* kSampleFile = "samples.json";
// A parsed JSON value takes up to some fifty times its text: what these bound is memory.
constexpr size_t kMaxConfigBytes = size_t{1} << 20;
constexpr size_t kMaxSampleBytes = size_t{1} << 22;
constexpr size_t kMaxVocabularyBytes = size_t{1} << 28;

// config.json, read and checked as far as it goes by itself.
struct ConfigFile {
  ModelConfig model;
  Json tokenization;
  Json provenance;
  std::vector<std::pair<std::string, std::string>> digests;  // file name, SHA-256

  bool Lists(std::string_view name) const {
    return std::any_of(digests.begin(), digests.end(),
                       [&](const auto& digest) { return digest.first == name; });
  }
};

[[noreturn]] void Damaged(const std::string& where, const std::string& message) {
  throw Error(ErrorKind::kInput, fmt::format("{}: {}", where, message));
}

// Every member of `expected`, nested objects included, and none but those, stands in `found`.
void CheckKeys(const Json& found, const Json& expected, const std::string& prefix,
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
                                 kFormatVersion, DidYouMean(key, names)));
    }
  }
  for (const auto& [key, value] : expected.items()) {
    if (!found.contains(key)) Damaged(where, fmt::format("key '{}' is missing", full(key)));
    if (value.is_object()) CheckKeys(found.at(key), value, full(key), where);
  }
}

Json ConfigToJson(ModelConfig config) {
  Json object = FieldsToJson(Fields(config));
  for (const char* stack : {"encoder", "decoder"}) {
    if (!object.contains(stack)) object[stack] = nullptr;
  }
  return object;
}

ModelConfig ConfigFromJson(Json object, const std::string& where) {
  if (!object.is_object()) Damaged(where, "'model' is not a JSON object");
  ModelConfig config;
  for (const auto& [name, stack] :
       {std::pair{"encoder", &config.encoder}, std::pair{"decoder", &config.decoder}}) {
    if (object.contains(name) && object[name].is_null()) stack->reset();
  }
  CheckKeys(object, ConfigToJson(config), "model", where);
  if (!config.encoder) object.erase("encoder");
  if (!config.decoder) object.erase("decoder");
  try {
    FieldsFromJson(object, Fields(config), where);
    CheckModelConfig(config);
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.starts_with(where)) throw Error(ErrorKind::kInput, message);
    Damaged(where, message);
  }
  return config;
}

void CheckVersion(const Json& object, const std::string& where) {
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
}

std::vector<std::pair<std::string, std::string>> DigestsFromJson(const Json& object,
                                                                 const std::string& where) {
  static const std::vector<std::string> known = {
      kTensorFile, kJointVocabularyFile, kSourceVocabularyFile, kTargetVocabularyFile, kSampleFile};
  std::vector<std::pair<std::string, std::string>> digests;
  if (!object.is_object()) Damaged(where, "'sha256' is not a JSON object");
  for (const auto& [name, value] : object.items()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      Damaged(where, fmt::format("sha256 lists '{}', which is no file of a model{}", Excerpt(name),
                                 DidYouMean(name, known)));
    }
    const std::string digest = value.is_string() ? value.get<std::string>() : "";
    if (digest.size() != 64 || digest.find_first_not_of("0123456789abcdef") != std::string::npos) {
      Damaged(where, fmt::format("sha256 of '{}' is {}, expected 64 digits 0-9a-f", name,
                                 Excerpt(value.dump())));
    }
    digests.emplace_back(name, digest);
  }
  return digests;
}

ConfigFile ReadConfig(const fs::path& directory) {
  const fs::path path = directory / kConfigFile;
  const std::string where = path.string();
  const Json object = ParseJson(ReadFile(path, kMaxConfigBytes), where);
  CheckVersion(object, where);
  CheckKeys(object,
            {{"format_version", 1},
             {"model", nullptr},
             {"tokenization", nullptr},
             {"provenance", nullptr},
             {"sha256", nullptr}},
            "", where);
  for (const char* name : {"tokenization", "provenance"}) {
    if (!object[name].is_object()) Damaged(where, fmt::format("'{}' is not a JSON object", name));
  }
  ConfigFile config{ConfigFromJson(object["model"], where), object["tokenization"],
                    object["provenance"], DigestsFromJson(object["sha256"], where)};
  if (!config.Lists(kTensorFile))
    Damaged(where, fmt::format("sha256 does not list '{}'", kTensorFile));
  const bool joint = config.Lists(kJointVocabularyFile),
             source = config.Lists(kSourceVocabularyFile),
             target = config.Lists(kTargetVocabularyFile);
  if (source != target || (joint && source)) {
    Damaged(where,
            fmt::format("sha256 lists {}{}{}, expected vocab.spm, or source.spm and target.spm",
                        joint ? "vocab.spm " : "", source ? "source.spm " : "",
                        target ? "target.spm " : ""));
  }
  return config;
}

// The file holds as many tensors as the layers need at the least; ExpectedTensors grows with the
// layers, and a short config.json must not make it grow past what the tensor file explains.
void CheckLayerCount(const ModelConfig& config, const TensorTable& tensors,
                     const std::string& where) {
  const int64_t layers =
      (config.encoder ? config.encoder->layers : 0) + (config.decoder ? config.decoder->layers : 0);
  const auto held = static_cast<int64_t>(tensors.tensors().size());
  if (layers > held) {
    Damaged(where, fmt::format("holds {} tensors, too few for the {} layers that {} asks for", held,
                               layers, kConfigFile));
  }
}

// What stands at `directory` may be replaced: nothing, an empty folder or a model.
void CheckReplaceable(const fs::path& directory) {
  std::error_code error;
  if (!fs::exists(directory, error)) return;
  const bool folder = fs::is_directory(directory, error);
  if (folder && (fs::is_empty(directory, error) || fs::exists(directory / kConfigFile, error)))
    return;
  throw Error(
      ErrorKind::kUsage,
      fmt::format("'{}' exists and is not a model directory, expected a new name or a model "
                  "to replace; remove it or choose another name",
                  directory.string()));
}

}  // namespace

std::shared_ptr<const Model> LoadModel(const fs::path& directory) {
  const ConfigFile config = ReadConfig(directory);
  auto model = std::make_shared<Model>();
  model->config = config.model;
  model->tokenization = config.tokenization;
  model->provenance = config.provenance;
  const fs::path tensor_path = directory / kTensorFile;
  model->tensors = LoadSafetensors(tensor_path);
  CheckLayerCount(model->config, model->tensors, tensor_path.string());
  CheckTensors(model->tensors, model->config, tensor_path.string());
  if (config.Lists(kJointVocabularyFile)) {
    model->source_vocabulary = ReadFile(directory / kJointVocabularyFile, kMaxVocabularyBytes);
    model->target_vocabulary = model->source_vocabulary;
  } else if (config.Lists(kSourceVocabularyFile)) {
    model->source_vocabulary = ReadFile(directory / kSourceVocabularyFile, kMaxVocabularyBytes);
    model->target_vocabulary = ReadFile(directory / kTargetVocabularyFile, kMaxVocabularyBytes);
  }
  if (config.Lists(kSampleFile)) {
    const fs::path path = directory / kSampleFile;
    model->samples = ParseJson(ReadFile(path, kMaxSampleBytes), path.string());
    SamplesFromJson(model->samples, model->config, path.string());
  }
  return model;
}

void SaveModel(const Model& model, const fs::path& directory) {
  const std::string where = directory.string();
  CheckModelConfig(model.config);
  CheckTensors(model.tensors, model.config, where);
  SamplesFromJson(model.samples, model.config, where);
  CheckReplaceable(directory);
  AtomicDirectory target(directory);
  Json digests = Json::object();
  SaveSafetensors(model.tensors, target.path() / kTensorFile);
  digests[kTensorFile] = Sha256OfFile(target.path() / kTensorFile);
  const auto write = [&](const char* name, const std::string& bytes) {
    WriteFileSynced(target.path() / name, bytes);
    digests[name] = Sha256(bytes);
  };
  if (model.source_vocabulary != model.target_vocabulary) {
    write(kSourceVocabularyFile, model.source_vocabulary);
    write(kTargetVocabularyFile, model.target_vocabulary);
  } else if (!model.source_vocabulary.empty()) {
    write(kJointVocabularyFile, model.source_vocabulary);
  }
  if (!model.samples.empty()) write(kSampleFile, model.samples.dump(1) + "\n");
  const Json config = {{"format_version", kFormatVersion},
                       {"model", ConfigToJson(model.config)},
                       {"tokenization", model.tokenization},
                       {"provenance", model.provenance},
                       {"sha256", digests}};
  WriteFileSynced(target.path() / kConfigFile, config.dump(2) + "\n");
  target.Commit();
}

std::vector<std::string> CheckDigests(const fs::path& directory) {
  std::vector<std::string> messages;
  for (const auto& [name, expected] : ReadConfig(directory).digests) {
    const std::string found = Sha256OfFile(directory / name);
    if (found == expected) continue;
    messages.push_back(
        fmt::format("{}: SHA-256 is {}, but {} says {}: the file was changed or damaged",
                    (directory / name).string(), found, kConfigFile, expected));
  }
  return messages;
}

}  // namespace attend
