#include "model/quantize.h"

#include <cmath>
#include <functional>
#include <limits>

#include "attend/error.h"
#include "model/model_fixture.h"

namespace attend {
namespace {

class QuantizeTest : public FolderTest {};

TEST_F(QuantizeTest, EachRowIsWithinHalfAStepOfItsWeights) {
  const Model model = SmallModel();
  const auto quantized = QuantizeModel(model);
  for (const TensorSpec& spec : ExpectedTensors(model.config)) {
    const TensorView& before = model.tensors.Get(spec.name);
    const TensorView& after = quantized->tensors.Get(spec.name);
    if (spec.shape.size() == 1) {
      ASSERT_EQ(after.type, TensorType::kF32);
      EXPECT_EQ(std::memcmp(before.data, after.data, before.bytes()), 0) << spec.name;
      continue;
    }
    ASSERT_EQ(after.type, TensorType::kI8) << spec.name;
    const float* scales = quantized->tensors.Get(spec.name + "_scale").f32();
    for (int64_t r = 0; r < spec.shape[0]; ++r) {
      int largest = 0;
      for (int64_t k = 0; k < spec.shape[1]; ++k) {
        const int64_t at = r * spec.shape[1] + k;
        EXPECT_NEAR(after.i8()[at] * scales[r], before.f32()[at], 0.5001 * scales[r]);
        const int neighbour = k % 2 == 1 ? after.i8()[at - 1] : 0;
        largest = std::max(largest, std::abs(int{after.i8()[at]}) + std::abs(neighbour));
      }
      EXPECT_LE(largest, 128);
      EXPECT_GE(largest, 126);  // 127, but for two roundings
    }
  }
}

TEST_F(QuantizeTest, ARowOfZerosStaysZeroAndTinyNumbersStayFinite) {
  Model model = SmallModel();
  auto* floats = const_cast<float*>(model.tensors.Get("encoder.embedding.weight").f32());
  const int64_t width = model.config.encoder->d_model;
  std::fill(floats, floats + width, 0.0f);
  std::fill(floats + width, floats + 2 * width, 1e-44f);
  const auto quantized = QuantizeModel(model);
  const TensorView& after = quantized->tensors.Get("encoder.embedding.weight");
  EXPECT_EQ(quantized->tensors.Get("encoder.embedding.weight_scale").f32()[0], 0);
  for (int64_t k = 0; k < width; ++k) EXPECT_EQ(after.i8()[k], 0);
  for (int64_t k = 0; k < 2 * width; ++k) EXPECT_LE(std::abs(int{after.i8()[k]}), 127);
}

TEST_F(QuantizeTest, SavedAndLoadedItIsTheSameAndAboutAQuarter) {
  Model model = SmallModel();
  model.config = SmallConfig(4000);
  model.config.encoder->d_model = model.config.decoder->d_model = 128;
  model.tensors = RandomTensors(model.config, 1, 0.3);
  SaveModel(model, folder_ / "f32");
  SaveModel(*QuantizeModel(model), folder_ / "int8");
  const auto loaded = LoadModel(folder_ / "int8");
  EXPECT_TRUE(IsInt8(*loaded));
  EXPECT_EQ(WithWeights(loaded, WeightType::kInt8), loaded);
  EXPECT_THROW(WithWeights(loaded, WeightType::kF32), Error);
  EXPECT_THROW(QuantizeModel(*loaded), Error);
  const auto size = [&](const char* name) {
    return static_cast<double>(std::filesystem::file_size(folder_ / name / "model.safetensors"));
  };
  EXPECT_LT(size("int8"), 0.28 * size("f32"));
}

TEST_F(QuantizeTest, LearnedPositionsStayF32AndMayNotBeInt8) {
  Model model = SmallModel();
  model.config.encoder->positions = PositionKind::kLearned;
  model.config.encoder->max_positions = 20;
  model.tensors = RandomTensors(model.config, 1, 0.3);
  const auto quantized = QuantizeModel(model);
  EXPECT_EQ(quantized->tensors.Get("encoder.positions.weight").type, TensorType::kF32);
  TensorTable wrong;
  for (TensorView tensor : quantized->tensors.tensors()) {
    if (tensor.name == "encoder.positions.weight") tensor.type = TensorType::kI8;
    wrong.Add(tensor);
  }
  EXPECT_THROW(CheckTensors(wrong, model.config, "here"), Error);
}

void ExpectRefused(const std::function<void()>& call, const std::string& part) {
  try {
    call();
    FAIL() << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST_F(QuantizeTest, EitherAllMatricesAreInt8OrNone) {
  const Model model = SmallModel();
  const auto quantized = QuantizeModel(model);
  for (const std::string name :
       {"encoder.embedding.weight", "encoder.layers.0.self_attention.key.weight",
        "decoder.layers.1.feed_forward.outer.weight"}) {
    TensorTable mixed;
    for (const TensorView& tensor : quantized->tensors.tensors()) {
      if (tensor.name == name + "_scale") continue;
      mixed.Add(tensor.name == name ? model.tensors.Get(name) : tensor);
    }
    ExpectRefused([&] { CheckTensors(mixed, model.config, "here"); }, name);
    ExpectRefused([&] { CheckTensors(mixed, model.config, "here"); }, "all matrices or for none");
  }
}

// 2^16 products of 127 and 128, and not many more, fit 32 bits.
TEST_F(QuantizeTest, RowsTooLongForExactSumsAreRefused) {
  Model model = SmallModel();
  for (std::optional<StackConfig>* stack : {&model.config.encoder, &model.config.decoder}) {
    (*stack)->layers = (*stack)->heads = 1;
    (*stack)->d_model = 2;
    (*stack)->d_ff = kMostInt8Columns;
  }
  model.tensors = RandomTensors(model.config, 1, 0.3);
  const auto good = QuantizeModel(model);
  EXPECT_NO_THROW(CheckTensors(good->tensors, model.config, "here"));
  model.config.decoder->d_ff = kMostInt8Columns + 1;
  model.tensors = RandomTensors(model.config, 1, 0.3);
  const std::string part = "feed_forward.outer.weight' ";
  ExpectRefused([&] { QuantizeModel(model); }, part + "has rows of 65537");
  TensorTable wrong;
  for (TensorView tensor : model.tensors.tensors()) {
    const bool int8 = MayBeInt8({tensor.name, tensor.shape});
    if (int8) {
      wrong.Add({tensor.name + "_scale", TensorType::kF32, {tensor.shape[0]}, tensor.data});
      tensor.type = TensorType::kI8;
    }
    wrong.Add(tensor);
  }
  ExpectRefused([&] { CheckTensors(wrong, model.config, "here"); },
                part + "is I8 with rows of 65537");
}

TEST_F(QuantizeTest, ANumberThatIsNotFiniteIsAnErrorThatNamesItsTensor) {
  Model model = SmallModel();
  const TensorView& tensor = model.tensors.Get("decoder.layers.1.feed_forward.outer.weight");
  const_cast<float*>(tensor.f32())[3] = std::numeric_limits<float>::infinity();
  ExpectRefused([&] { QuantizeModel(model); }, tensor.name);
}

}  // namespace
}  // namespace attend
