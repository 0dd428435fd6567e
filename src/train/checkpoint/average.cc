#include "train/checkpoint/average.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "model/safetensors.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

using Arrays = std::vector<std::vector<float>>;

TensorTable LoadWeights(const StoredCheckpoint& checkpoint) {
  const bool moving_average = checkpoint.digests.contains(kAverageFile);
  return LoadSafetensors(CheckedFile(checkpoint, moving_average ? kAverageFile : kWeightsFile));
}

void CheckSame(const TensorTable& table, const TensorTable& first, const fs::path& directory) {
  bool same = table.tensors().size() == first.tensors().size();
  for (size_t i = 0; same && i < table.tensors().size(); ++i) {
    const TensorView &tensor = table.tensors()[i], &other = first.tensors()[i];
    if (tensor.type != TensorType::kF32) {
      throw Error(ErrorKind::kInput,
                  fmt::format("checkpoint '{}': tensor '{}' has type {}, expected F32",
                              directory.string(), tensor.name, TensorTypeName(tensor.type)));
    }
    same = tensor.name == other.name && tensor.shape == other.shape;
  }
  if (same) return;
  throw Error(ErrorKind::kInput, fmt::format("checkpoint '{}' is of another model than the first; "
                                             "only checkpoints of one run can be averaged",
                                             directory.string()));
}

}  // namespace

TensorTable AverageCheckpoints(const std::vector<StoredCheckpoint>& checkpoints) {
  if (checkpoints.empty()) throw Error(ErrorKind::kUsage, "there is no checkpoint to average");
  std::vector<TensorTable> tables;
  for (const StoredCheckpoint& checkpoint : checkpoints) {
    tables.push_back(LoadWeights(checkpoint));
    CheckSame(tables.back(), tables.front(), checkpoint.directory);
  }
  auto arrays = std::make_shared<Arrays>();
  for (size_t i = 0; i < tables[0].tensors().size(); ++i) {
    const size_t count = static_cast<size_t>(tables[0].tensors()[i].elements());
    std::vector<double> sums(count, 0.0);
    for (const TensorTable& table : tables) {
      const float* values = table.tensors()[i].f32();
      for (size_t k = 0; k < count; ++k) sums[k] += values[k];
    }
    std::vector<float>& means = arrays->emplace_back(count);
    for (size_t k = 0; k < count; ++k)
      means[k] = static_cast<float>(sums[k] / static_cast<double>(tables.size()));
  }
  TensorTable average(arrays);
  for (size_t i = 0; i < tables[0].tensors().size(); ++i) {
    TensorView tensor = tables[0].tensors()[i];
    tensor.data = reinterpret_cast<const std::byte*>((*arrays)[i].data());
    average.Add(std::move(tensor));
  }
  return average;
}

}  // namespace attend
