#include "model/adapter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "attend/error.h"
#include "base/edit_distance.h"
#include "base/excerpt.h"
#include "model/directory_writer.h"
#include "model/safetensors.h"
#include "model/sample.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kWeight = ".weight";

// "encoder.layers.0.self_attention.query"
std::string WithoutWeight(const std::string& name) {
  return name.substr(0, name.size() - std::min(name.size(), kWeight.size()));
}

void CheckName(const std::string& name, const std::string& where) {
  const bool layer = name.starts_with("encoder.layers.") || name.starts_with("decoder.layers.");
  if (layer && name.ends_with(kWeight)) return;
  Damaged(where,
          fmt::format("adapter.matrices has '{}', expected the weight of a layer", Excerpt(name)));
}

// A matrix whose size in `dimension` is the rank; the base decides the other one.
void CheckFactor(const Adapter& adapter, const std::string& name, size_t dimension,
                 const std::string& where) {
  const TensorView* tensor = adapter.model.tensors.Find(name);
  if (tensor == nullptr) Damaged(where, fmt::format("tensor '{}' is missing", Excerpt(name)));
  if (tensor->type != TensorType::kF32) {
    Damaged(where, fmt::format("tensor '{}' has type {}, expected F32", Excerpt(name),
                               TensorTypeName(tensor->type)));
  }
  if (tensor->shape.size() == 2 && tensor->shape[dimension] == adapter.facts.rank) return;
  Damaged(where, fmt::format("tensor '{}' has shape [{}], expected a matrix of {} {}, which is "
                             "adapter.rank",
                             Excerpt(name), fmt::join(tensor->shape, ", "), adapter.facts.rank,
                             dimension == 0 ? "rows" : "columns"));
}

// Those that config.json names, and no other.
void CheckOwnTensors(const Adapter& adapter, const std::string& where) {
  std::set<std::string> known;
  for (const std::string& name : adapter.facts.matrices) {
    CheckName(name, where);
    CheckFactor(adapter, AdapterAName(name), 0, where);
    CheckFactor(adapter, AdapterBName(name), 1, where);
    known.insert({AdapterAName(name), AdapterBName(name)});
  }
  for (const TensorView& tensor : adapter.model.tensors.tensors()) {
    if (known.contains(tensor.name)) continue;
    if (adapter.facts.head && IsOfHead(tensor.name)) continue;
    Damaged(where, fmt::format("tensor '{}' is not part of this adapter{}", Excerpt(tensor.name),
                               DidYouMean(tensor.name, {known.begin(), known.end()})));
  }
}

}  // namespace

std::string AdapterAName(const std::string& name) { return WithoutWeight(name) + ".adapter_a"; }

std::string AdapterBName(const std::string& name) { return WithoutWeight(name) + ".adapter_b"; }

std::shared_ptr<const Adapter> LoadAdapter(const fs::path& directory) {
  const ConfigFile config = ReadConfig(directory);
  if (!config.adapter) {
    throw Error(ErrorKind::kInput,
                fmt::format("'{}' is a model, expected an adapter", directory.string()));
  }
  auto adapter = std::make_shared<Adapter>();
  adapter->facts = *config.adapter;
  adapter->model = ReadModelFacts(config, directory);
  const fs::path path = directory / kAdapterFile;
  adapter->model.tensors = LoadSafetensors(path);
  CheckOwnTensors(*adapter, path.string());
  return adapter;
}

void SaveAdapter(const Adapter& adapter, const fs::path& directory) {
  const std::string where = directory.string();
  CheckModelConfig(adapter.model.config);
  CheckOwnTensors(adapter, where);
  SamplesFromJson(adapter.model.samples, adapter.model.config, where);
  std::error_code error;
  if (fs::exists(directory / kTensorFile, error)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("'{}' is a model, which an adapter would take the place of; choose "
                            "another name",
                            where));
  }
  DirectoryWriter writer(directory);
  writer.Write(kAdapterFile, adapter.model.tensors);
  writer.WriteSamples(adapter.model.samples);
  Json config = ConfigJsonOf(adapter.model);
  config["adapter"] = AdapterFactsToJson(adapter.facts);
  writer.Commit(std::move(config));
}

bool IsOfHead(const std::string& name) { return name.starts_with("head."); }

}  // namespace attend
