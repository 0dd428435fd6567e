// A model that is described and has no weights.
#ifndef ATTEND_CLI_DESCRIBED_MODEL_H_
#define ATTEND_CLI_DESCRIBED_MODEL_H_

#include <cstdint>
#include <filesystem>
#include <string>

#include "attend/model_config.h"

namespace attend {

// The preset's shape with a vocabulary of this size, of the task that its stacks are for. Throws as
// PresetConfig does.
ModelConfig PresetModel(const std::string& preset, int64_t vocab_size);

// What a config.json, or its member `model` alone, says. Throws Error(kInput) that names the file.
ModelConfig ReadModelConfig(const std::filesystem::path& file);

}  // namespace attend

#endif  // ATTEND_CLI_DESCRIBED_MODEL_H_
