#include "model/random_tensors.h"

#include <memory>
#include <vector>

#include "base/random.h"

namespace attend {

TensorTable RandomTensors(const ModelConfig& config, uint64_t seed, double scale) {
  auto storage = std::make_shared<std::vector<std::vector<float>>>();
  TensorTable table(storage);
  Random random({seed});
  const std::vector<TensorSpec> specs = ExpectedTensors(config);
  storage->reserve(specs.size());
  for (const TensorSpec& spec : specs) {
    TensorView view{spec.name, TensorType::kF32, spec.shape, nullptr};
    std::vector<float>& values = storage->emplace_back(view.elements());
    const bool gain = spec.name.ends_with("norm.weight");
    for (float& value : values) value = static_cast<float>(gain + scale * random.Normal());
    view.data = reinterpret_cast<const std::byte*>(values.data());
    table.Add(view);
  }
  return table;
}

}  // namespace attend
