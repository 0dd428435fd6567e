// A small model with random weights, and a folder of its own, for tests of whatever reads models.
#ifndef ATTEND_MODEL_MODEL_FIXTURE_H_
#define ATTEND_MODEL_MODEL_FIXTURE_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "model/model_directory.h"

namespace attend {

// Normal numbers times `scale` for everything that ExpectedTensors names.
inline TensorTable RandomTensors(const ModelConfig& config, uint64_t seed = 1, double scale = 0.3) {
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

inline ModelConfig SmallConfig(int64_t vocabulary = 40) {
  ModelConfig config;
  config.source_vocab_size = config.target_vocab_size = vocabulary;
  for (std::optional<StackConfig>* stack : {&config.encoder, &config.decoder}) {
    (*stack)->layers = 2;
    (*stack)->d_model = 16;
    (*stack)->heads = 2;
    (*stack)->d_ff = 24;
  }
  config.languages = {"en", "de"};
  return config;
}

inline Model SmallModel() {
  Model model;
  model.config = SmallConfig();
  model.tensors = RandomTensors(model.config);
  model.provenance["seed"] = 1;
  return model;
}

// A folder that goes away with the test.
class FolderTest : public testing::Test {
 protected:
  FolderTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("attend_test_" + std::to_string(getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~FolderTest() override { std::filesystem::remove_all(folder_); }
  const std::filesystem::path folder_;
};

}  // namespace attend

#endif  // ATTEND_MODEL_MODEL_FIXTURE_H_
