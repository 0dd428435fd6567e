// Hundreds of damaged copies of the golden models: loading takes them or throws Error(kInput),
// nothing else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "attend/error.h"
#include "base/files.h"
#include "fuzz/mutation.h"
#include "model/model_fixture.h"
#include "model/sample.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

class DamagedModelTest : public FolderTest {
 protected:
  // 1 where the model loads all the same.
  int Load(const std::string& what) const {
    try {
      const auto model = LoadModel(folder_ / "model");
      float sum = 0;  // every weight that the table claims is there
      for (const TensorView& tensor : model->tensors.tensors()) {
        for (int64_t i = 0; i < tensor.elements(); ++i) sum += tensor.f32()[i];
      }
      volatile float used = sum;
      (void)used;
      return 1;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput) << what << ": " << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos)
          << what << ": " << error.what();
      EXPECT_NE(std::string(error.what()).find(folder_.string()), std::string::npos)
          << error.what();
    }
    return 0;
  }

  // How many of `count` damaged copies of `file` load.
  int LoadDamaged(const std::string& name, const std::string& file, uint64_t count) const {
    fs::remove_all(folder_ / "model");
    fs::copy(fs::path(ATTEND_SOURCE_DIR) / "tests" / "data" / name, folder_ / "model");
    const std::string good = ReadFile(folder_ / "model" / file);
    int loaded = 0;
    for (uint64_t n = 0; n < count; ++n) {
      Random random{n, 7};
      std::ofstream(folder_ / "model" / file, std::ios::binary) << Mutate(good, &random);
      loaded += Load(fmt::format("{} {} mutation {}", name, file, n));
    }
    return loaded;
  }
};

TEST_F(DamagedModelTest, LoadsOrRefuses) {
  for (const std::string name : {"golden_v1", "golden_v1_variant"}) {
    const int loaded = LoadDamaged(name, "config.json", 150) +
                       LoadDamaged(name, "model.safetensors", 150) +
                       LoadDamaged(name, "samples.json", 150);
    EXPECT_GT(loaded, 0);  // the damage is small enough to reach past the first check
    EXPECT_LT(loaded, 350);
  }
  LoadDamaged("golden_v1", "vocab.spm", 150);
}

}  // namespace
}  // namespace attend
