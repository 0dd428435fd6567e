#include "model/model_directory.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "attend/vocabulary.h"
#include "base/files.h"
#include "base/sha256.h"
#include "model/config_file.h"
#include "model/directory_writer.h"
#include "model/graph_file.h"
#include "model/safetensors.h"
#include "model/sample.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMaxVocabularyBytes = size_t{1} << 28;

// What training puts into a run's directory.
constexpr const char *kRunModel = "model", *kRunAdapter = "adapter";

bool Exists(const fs::path& path) {
  std::error_code unknown;  // said when the file is read
  return fs::exists(path, unknown);
}

bool IsRunOfAdapter(const fs::path& directory) {
  return !Exists(directory / kConfigFile) && !Exists(directory / kRunModel / kConfigFile) &&
         Exists(directory / kRunAdapter / kConfigFile);
}

// What is easily taken for a model or an adapter: a training run, and a checkpoint of one.
void CheckIsModel(const fs::path& directory) {
  if (Exists(directory / kConfigFile)) return;
  for (const char* inside : {kRunModel, kRunAdapter}) {
    if (!Exists(directory / inside / kConfigFile)) continue;
    throw Error(ErrorKind::kInput, fmt::format("'{}' is not a model directory; did you mean '{}'?",
                                               directory.string(), (directory / inside).string()));
  }
  if (Exists(directory / "state.json")) {
    throw Error(
        ErrorKind::kInput,
        fmt::format("'{}' is a checkpoint; `attend export --checkpoint` makes a model of it",
                    directory.string()));
  }
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

// A vocabulary of other size or other special ids than the configuration's would give wrong words,
// or ids past the end of an embedding.
void CheckVocabulary(const std::string& bytes, int64_t size, const SpecialIds& ids, int64_t version,
                     const std::string& where) {
  const auto vocabulary = Vocabulary::FromBytes(bytes, where);
  if (version < 5 && vocabulary->type() >= VocabularyType::kWordPiece)
    Damaged(where, fmt::format("is a tokenizer.json, which format_version {} has not", version));
  if (vocabulary->size() != size) {
    Damaged(where, fmt::format("has {} pieces, expected {} by the model's configuration",
                               vocabulary->size(), size));
  }
  const SpecialIds found = vocabulary->special_ids();
  if (found == ids) return;
  Damaged(
      where,
      fmt::format("has pad {}, unk {}, bos {}, eos {}, expected {}, {}, {}, {} by the model's "
                  "configuration",
                  found.pad, found.unk, found.bos, found.eos, ids.pad, ids.unk, ids.bos, ids.eos));
}

void CheckVocabularies(const Model& model, int64_t version, const std::string& source_where,
                       const std::string& target_where) {
  const ModelConfig& config = model.config;
  const std::string &source = model.source_vocabulary, &target = model.target_vocabulary;
  if (source.empty() != target.empty())
    Damaged(source_where, "only one of two vocabularies is there");
  if (source.empty()) return;
  if (config.frames && source != target)
    Damaged(source_where, "differs from the target's, but an encoder of frames reads no text");
  if (config.encoder && config.ReadsTokens())
    CheckVocabulary(source, config.source_vocab_size, config.special_ids, version, source_where);
  if (!config.constituents.empty()) {
    if (source != target)
      Damaged(target_where, "differs from the source's, but a parser's targets are symbols");
    return;
  }
  if (config.decoder && (!config.encoder || source != target ||
                         config.source_vocab_size != config.target_vocab_size)) {
    CheckVocabulary(target, config.target_vocab_size, config.special_ids, version, target_where);
  }
}

void CheckGraph(const Model& model, const std::string& where) {
  const auto& fusion = model.config.fusion;
  ParseGraphFile(model.graph, fusion ? fusion->nodes : std::vector<std::string>(), where);
}

void ReadVocabularies(const ConfigFile& config, const fs::path& directory, Model* model) {
  const auto read = [&](const fs::path& path) {
    std::string bytes = ReadFile(path, kMaxVocabularyBytes);
    if (bytes.empty()) Damaged(path.string(), "is empty, expected a vocabulary");
    return bytes;
  };
  if (config.Lists(kJointVocabularyFile)) {
    const fs::path path = directory / kJointVocabularyFile;
    model->source_vocabulary = model->target_vocabulary = read(path);
    CheckVocabularies(*model, config.format_version, path.string(), path.string());
  } else if (config.Lists(kSourceVocabularyFile)) {
    const fs::path source = directory / kSourceVocabularyFile;
    const fs::path target = directory / kTargetVocabularyFile;
    model->source_vocabulary = read(source);
    model->target_vocabulary = read(target);
    CheckVocabularies(*model, config.format_version, source.string(), target.string());
  }
}

}  // namespace

ConfigFile ReadConfig(const fs::path& directory) {
  CheckIsModel(directory);
  const fs::path path = directory / kConfigFile;
  return ParseConfigFile(ReadFile(path, kMaxConfigBytes), path.string());
}

Model ReadModelFacts(const ConfigFile& config, const fs::path& directory) {
  Model model;
  model.config = config.model;
  model.tokenization = config.tokenization;
  model.provenance = config.provenance;
  model.training_text = config.training_text;
  if (config.Lists(kSampleFile)) {
    const fs::path path = directory / kSampleFile;
    model.samples = ParseJson(ReadFile(path, kMaxSampleBytes), path.string());
    SamplesFromJson(model.samples, model.config, path.string());
  }
  return model;
}

Json ConfigJsonOf(const Model& model) {
  return {{"format_version", kFormatVersion},
          {"model", ModelConfigToJson(model.config)},
          {"tokenization", model.tokenization},
          {"provenance", model.provenance},
          {"training_text", TrainingTextToJson(model.training_text)}};
}

std::shared_ptr<const Model> LoadModel(const fs::path& directory) {
  const fs::path read = IsRunOfAdapter(directory) ? directory / kRunAdapter : directory;
  const ConfigFile config = ReadConfig(read);
  if (config.adapter) {
    throw Error(ErrorKind::kInput,
                fmt::format("'{}' is {} adapter, which runs with the model that it was trained on: "
                            "--model MODEL --adapter {}, where {} of MODEL has SHA-256 {}",
                            directory.string(), read == directory ? "an" : "the run of an",
                            read.string(), kTensorFile, config.adapter->base_sha256));
  }
  auto model = std::make_shared<Model>(ReadModelFacts(config, directory));
  const fs::path tensor_path = directory / kTensorFile;
  model->tensors = LoadSafetensors(tensor_path);
  model->tensor_digest = config.DigestOf(kTensorFile);
  CheckLayerCount(model->config, model->tensors, tensor_path.string());
  CheckTensors(model->tensors, model->config, tensor_path.string());
  ReadVocabularies(config, directory, model.get());
  if (config.Lists(kGraphFile)) {
    const fs::path path = directory / kGraphFile;
    model->graph = ReadFile(path, kMaxGraphBytes);
    CheckGraph(*model, path.string());
  }
  return model;
}

void SaveModel(const Model& model, const fs::path& directory) {
  const std::string where = directory.string();
  CheckModelConfig(model.config);
  CheckTensors(model.tensors, model.config, where);
  CheckVocabularies(model, kFormatVersion, "the source vocabulary", "the target vocabulary");
  SamplesFromJson(model.samples, model.config, where);
  if (!model.graph.empty()) CheckGraph(model, "the model's graph");
  DirectoryWriter writer(directory);
  writer.Write(kTensorFile, model.tensors);
  if (model.source_vocabulary != model.target_vocabulary) {
    writer.Write(kSourceVocabularyFile, model.source_vocabulary);
    writer.Write(kTargetVocabularyFile, model.target_vocabulary);
  } else if (!model.source_vocabulary.empty()) {
    writer.Write(kJointVocabularyFile, model.source_vocabulary);
  }
  writer.WriteSamples(model.samples);
  if (!model.graph.empty()) writer.Write(kGraphFile, model.graph);
  writer.Commit(ConfigJsonOf(model));
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
