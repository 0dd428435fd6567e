#include "cli/described_model.h"

#include "base/files.h"
#include "base/json.h"
#include "model/config_file.h"

namespace attend {

ModelConfig PresetModel(const std::string& preset, int64_t vocab_size) {
  ModelConfig config = PresetConfig(preset);
  if (!config.encoder) config.task = "language_model";
  if (!config.decoder) config.task = "masked_language_model";
  if (config.patches) {
    config.task = "classification";
    return config;
  }
  if (config.frames) config.task = "transcription";
  if (config.fusion) config.task = "fusion";
  if (config.encoder && !config.frames) config.source_vocab_size = vocab_size;
  config.target_vocab_size = vocab_size;
  return config;
}

ModelConfig ReadModelConfig(const std::filesystem::path& file) {
  const std::string text = ReadFile(file, kMaxConfigBytes);
  const Json object = ParseJson(text, file.string());
  if (object.is_object() && object.contains("format_version"))
    return ParseConfigFile(text, file.string()).model;
  return ModelConfigFromJson(object, file.string());
}

}  // namespace attend
