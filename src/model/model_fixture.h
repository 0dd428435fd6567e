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
#include "model/random_tensors.h"

namespace attend {

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

// A decoder alone.
inline ModelConfig SmallLanguageModel(int64_t vocabulary = 40) {
  ModelConfig config = SmallConfig(vocabulary);
  config.task = "language_model";
  config.languages = {"en"};
  config.encoder.reset();
  config.source_vocab_size = 0;
  config.tie_source_target = false;
  return config;
}

inline Model SmallModel() {
  Model model;
  model.config = SmallConfig();
  model.tensors = RandomTensors(model.config, 1, 0.3);
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
