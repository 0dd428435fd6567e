// The model directory: config.json, model.safetensors, vocabularies, samples.json, graph.tsv. All
// that training and inference share; docs/model_file.md is its grammar.
#ifndef ATTEND_MODEL_MODEL_DIRECTORY_H_
#define ATTEND_MODEL_MODEL_DIRECTORY_H_

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attend/model_config.h"
#include "base/json.h"
#include "model/tensor_table.h"
#include "model/training_text.h"

namespace attend {

inline constexpr int64_t kFormatVersion = 14;  // what SaveModel writes

// A model in memory. Immutable once made; shared between whoever uses it. Tensors may point into a
// mapped file.
struct Model {
  ModelConfig config;
  TensorTable tensors;
  std::string tensor_digest;  // SHA-256 of model.safetensors, as config.json says; empty: no file
  // Vocabulary files; both empty for a model without vocabulary, equal for a joint
  // one.
  std::string source_vocabulary;
  std::string target_vocabulary;
  Json tokenization =
      Json::object();  // how the text was prepared, for people: kind, normalization, lowercase ...
  Json provenance = Json::object();           // command, seed, data digests, metrics
  std::optional<TrainingText> training_text;  // none: not known
  Json samples = Json::array();               // see docs/model_file.md; empty: none
  std::string graph;                          // graph.tsv of a model of fusion; empty: none
};

// Maps and checks everything but the digests: structure, sizes, names and shapes. Numbers may be
// NaN; `attend verify` finds those and wrong digests. Throws Error(kInput) that names the file and
// what is wrong; never allocates more than the files' sizes explain. Files may be symbolic links to
// regular files; a file that another program cuts short while the model lives ends this program.
std::shared_ptr<const Model> LoadModel(const std::filesystem::path& directory);

// Writes the directory so that it appears whole or not at all, and replaces a model that is there.
// Throws Error(kUsage) where something else is.
void SaveModel(const Model& model, const std::filesystem::path& directory);

// What a directory's config.json and samples.json say, for whoever reads the other files: `config`
// is `directory`'s.
struct ConfigFile;
ConfigFile ReadConfig(const std::filesystem::path& directory);
Model ReadModelFacts(const ConfigFile& config, const std::filesystem::path& directory);
// And back; no digests.
Json ConfigJsonOf(const Model& model);

// Digests in config.json that do not match, one message each naming the file; empty: all match.
std::vector<std::string> CheckDigests(const std::filesystem::path& directory);

}  // namespace attend

#endif  // ATTEND_MODEL_MODEL_DIRECTORY_H_
