// Adapters with random weights, for tests of whatever reads or runs them.
#ifndef ATTEND_MODEL_ADAPTER_FIXTURE_H_
#define ATTEND_MODEL_ADAPTER_FIXTURE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/sha256.h"
#include "model/adapted_model.h"

namespace attend {

// Fills a table with f32 tensors of these names and shapes.
inline TensorTable RandomTable(const std::vector<TensorSpec>& specs, uint64_t seed) {
  auto arrays = std::make_shared<std::vector<std::vector<float>>>();
  TensorTable tensors(arrays);
  Random random({seed});
  for (const TensorSpec& spec : specs) {
    int64_t count = 1;
    for (const int64_t size : spec.shape) count *= size;
    std::vector<float>& values = arrays->emplace_back(count);
    for (float& value : values) value = static_cast<float>(0.2 * random.Normal());
    tensors.Add({spec.name, TensorType::kF32, spec.shape,
                 reinterpret_cast<const std::byte*>(values.data())});
  }
  return tensors;
}

// Of the queries and values of all attentions, as training's are by default.
inline std::shared_ptr<Adapter> MakeAdapter(const Model& base, int64_t rank, uint64_t seed) {
  auto adapter = std::make_shared<Adapter>();
  adapter->facts = {base.tensor_digest, rank, 3.0, false, {}};
  adapter->model.config = base.config;
  adapter->model.tokenization = base.tokenization;
  std::vector<TensorSpec> factors;
  for (const TensorSpec& spec : ExpectedTensors(base.config)) {
    if (!spec.name.ends_with(".query.weight") && !spec.name.ends_with(".value.weight")) continue;
    adapter->facts.matrices.push_back(spec.name);
    factors.push_back({AdapterAName(spec.name), {rank, spec.shape[1]}});
    factors.push_back({AdapterBName(spec.name), {spec.shape[0], rank}});
  }
  adapter->model.tensors = RandomTable(factors, seed);
  return adapter;
}

// A model as one that was loaded, by which adapters know it.
inline std::shared_ptr<const Model> WithDigest(Model model) {
  model.tensor_digest = Sha256("the weights of " + model.config.task);
  return std::make_shared<Model>(std::move(model));
}

}  // namespace attend

#endif  // ATTEND_MODEL_ADAPTER_FIXTURE_H_
