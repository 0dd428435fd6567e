// The directory of an adapter, what is refused of it, and the sum with its base beside the formula.
#include "model/adapter.h"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <functional>

#include "attend/error.h"
#include "model/adapter_fixture.h"
#include "model/config_file.h"
#include "model/error_fixture.h"
#include "model/model_fixture.h"
#include "model/quantize.h"
#include "model/safetensors.h"
#include "model/sample.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kRank = 3;
const std::string kChanged = "decoder.layers.1.cross_attention.value.weight",
                  kUnchanged = "decoder.layers.1.feed_forward.inner.weight";

class AdapterTest : public FolderTest {
 protected:
  AdapterTest() {
    Model model = SmallModel();
    model.source_vocabulary = model.target_vocabulary = "";
    SaveModel(model, folder_ / "base");
    base_ = LoadModel(folder_ / "base");
    adapter_ = MakeAdapter(*base_, kRank, 5);
    adapter_->model.provenance["seed"] = 2;
    adapter_->model.training_text = TrainingText();
    SaveAdapter(*adapter_, path_);
  }

  // The one-line message of the Error(kInput) that reading and merging give, or "".
  std::string Message() const {
    return InputErrorOf([&] { LoadModelWith(folder_ / "base", path_); });
  }
  std::string ConfigMessage(const std::function<void(Json&)>& edit) const {
    const std::string good = ReadFile(path_ / "config.json");
    Json config = ParseJson(good, "config.json");
    edit(config);
    Write("config.json", config.dump());
    const std::string message = Message();
    Write("config.json", good);
    return message;
  }
  std::string FactMessage(const std::string& name, const Json& value) const {
    return ConfigMessage([&](Json& config) { config["adapter"][name] = value; });
  }
  // Of an adapter with other tensors.
  std::string TensorMessage(const std::function<void(std::vector<TensorSpec>*)>& edit) const {
    std::vector<TensorSpec> specs;
    for (const TensorView& tensor : adapter_->model.tensors.tensors())
      specs.push_back({tensor.name, tensor.shape});
    edit(&specs);
    SaveSafetensors(RandomTable(specs, 1), path_ / "adapter.safetensors");
    const std::string message = Message();
    SaveSafetensors(adapter_->model.tensors, path_ / "adapter.safetensors");
    return message;
  }
  void Write(const std::string& file, const std::string& bytes) const {
    std::ofstream(path_ / file, std::ios::binary) << bytes;
  }

  const fs::path path_ = folder_ / "adapter";
  std::shared_ptr<const Model> base_;
  std::shared_ptr<Adapter> adapter_;
};

TEST_F(AdapterTest, SamplesThatDoNotFitAreLeftOut) {
  Sample sample;
  sample.source_ids = {5, 3};
  sample.source.assign(kMaxSampleBytes / 3 * 2, 'a');
  adapter_->model.samples = SamplesToJson({sample, sample});
  SaveAdapter(*adapter_, path_);
  EXPECT_EQ(LoadAdapter(path_)->model.samples, SamplesToJson({sample}));
}

TEST_F(AdapterTest, RoundTrip) {
  const auto back = LoadAdapter(path_);
  EXPECT_EQ(back->facts.base_sha256, base_->tensor_digest);
  EXPECT_EQ(back->facts.rank, kRank);
  EXPECT_EQ(back->facts.alpha, 3);
  EXPECT_FALSE(back->facts.head);
  EXPECT_EQ(back->facts.matrices, adapter_->facts.matrices);
  EXPECT_EQ(back->model.config, base_->config);
  EXPECT_EQ(back->model.provenance, adapter_->model.provenance);
  EXPECT_EQ(back->model.training_text, adapter_->model.training_text);
  for (const TensorView& tensor : adapter_->model.tensors.tensors()) {
    EXPECT_EQ(std::memcmp(back->model.tensors.Get(tensor.name).data, tensor.data, tensor.bytes()),
              0);
  }
  EXPECT_THAT(CheckDigests(path_), ElementsAre());
  SaveAdapter(*back, folder_ / "again");
  for (const char* file : {"config.json", "adapter.safetensors"})
    EXPECT_EQ(ReadFile(path_ / file), ReadFile(folder_ / "again" / file)) << file;
}

// W + (alpha / rank) B A of one matrix.
std::vector<double> SumOf(const Adapter& adapter, const std::string& name,
                          std::vector<double> weights) {
  const TensorView &a = adapter.model.tensors.Get(AdapterAName(name)),
                   &b = adapter.model.tensors.Get(AdapterBName(name));
  const int64_t rows = b.shape[0], rank = b.shape[1], width = a.shape[1];
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      double product = 0;
      for (int64_t k = 0; k < rank; ++k)
        product += double{b.f32()[i * rank + k]} * double{a.f32()[k * width + j]};
      weights[i * width + j] += adapter.facts.alpha / static_cast<double>(rank) * product;
    }
  }
  return weights;
}

std::vector<double> ValuesOf(const TensorTable& tensors, const std::string& name) {
  const TensorView& tensor = tensors.Get(name);
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    values.push_back(
        tensor.type == TensorType::kF32
            ? double{tensor.f32()[i]}
            : double{tensor.i8()[i] * tensors.Get(name + "_scale").f32()[i / tensor.shape[1]]});
  }
  return values;
}

TEST_F(AdapterTest, MergingAddsAsTheFormulaSaysAndChangesNothingElse) {
  const auto merged = LoadModelWith(folder_ / "base", path_);
  CheckTensors(merged->tensors, merged->config, "merged");
  EXPECT_EQ(merged->tensor_digest, "");
  int64_t changed = 0;
  for (const TensorView& tensor : merged->tensors.tensors()) {
    const bool same =
        std::memcmp(tensor.data, base_->tensors.Get(tensor.name).data, tensor.bytes()) == 0;
    const bool named = std::ranges::count(adapter_->facts.matrices, tensor.name) > 0;
    EXPECT_EQ(same, !named) << tensor.name;
    if (!named) continue;
    ++changed;
    const std::vector<double> expected =
        SumOf(*adapter_, tensor.name, ValuesOf(base_->tensors, tensor.name));
    for (int64_t i = 0; i < tensor.elements(); ++i)
      EXPECT_NEAR(tensor.f32()[i], expected[i], 1e-7) << tensor.name << " " << i;
  }
  EXPECT_EQ(changed, 2 * (2 + 2 + 2));
  // Training's base is a copy in memory; so is what the service holds.
  EXPECT_EQ(MergeAdapter(base_, adapter_, "a")->tensors.Get(kUnchanged).data,
            base_->tensors.Get(kUnchanged).data);
}

TEST_F(AdapterTest, AnInt8BaseIsTakenBackAddedToAndQuantizedAgain) {
  auto quantized = QuantizeModel(*base_);
  quantized->tensor_digest = "";
  quantized->provenance[kQuantizedFrom] = base_->tensor_digest;
  SaveModel(*quantized, folder_ / "int8");
  const auto int8 = LoadModel(folder_ / "int8");
  const auto merged = LoadModelWith(folder_ / "int8", path_);
  EXPECT_TRUE(IsInt8(*merged));
  CheckTensors(merged->tensors, merged->config, "merged");
  const std::vector<double> sum = SumOf(*adapter_, kChanged, ValuesOf(int8->tensors, kChanged));
  const std::vector<float> rounded(sum.begin(), sum.end());
  const TensorView& found = merged->tensors.Get(kChanged);
  const Int8Matrix expected = QuantizeMatrix({kChanged, found.shape}, rounded.data());
  EXPECT_EQ(std::memcmp(found.data, expected.integers.data(), found.bytes()), 0);
  const TensorView& scales = merged->tensors.Get(kChanged + "_scale");
  for (size_t r = 0; r < expected.scales.size(); ++r)
    EXPECT_FLOAT_EQ(scales.f32()[r], expected.scales[r]) << r;
  const TensorView& same = merged->tensors.Get(kUnchanged);
  EXPECT_EQ(std::memcmp(same.data, int8->tensors.Get(kUnchanged).data, same.bytes()), 0);

  // An f32 base that runs in int8 is added to before.
  const AdaptedModel adapted = AdaptModel(base_, QuantizeModel(*base_), adapter_, "adapter");
  const auto expected_model = QuantizeModel(*MergeAdapter(base_, adapter_, "adapter"));
  for (const TensorView& tensor : adapted.matrices.tensors()) {
    EXPECT_EQ(
        std::memcmp(tensor.data, expected_model->tensors.Get(tensor.name).data, tensor.bytes()), 0)
        << tensor.name;
  }
}

TEST_F(AdapterTest, ItsOwnHeadTakesThePlaceOfTheBases) {
  Model encoder = SmallModel();
  encoder.config.task = "masked_language_model";
  encoder.config.decoder.reset();
  encoder.config.head_transform = encoder.config.head_bias = true;
  encoder.config.encoder->activation = Activation::kGelu;
  encoder.tensors = RandomTensors(encoder.config, 1, 0.3);
  const auto base = WithDigest(encoder);
  const auto adapter = MakeAdapter(*base, kRank, 5);
  ModelConfig& config = adapter->model.config;
  config.task = "tagging";
  config.head = HeadKind::kLabels;
  config.head_transform = config.head_bias = false;
  config.labels = {"O", "B-X"};
  std::vector<TensorSpec> specs = {{"head.weight", {2, 16}}, {"head.bias", {2}}};
  for (const TensorView& tensor : adapter->model.tensors.tensors())
    specs.push_back({tensor.name, tensor.shape});
  const auto message = [&] {
    try {
      MergeAdapter(base, adapter, "adapter");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message(), HasSubstr("head is labels in the adapter's configuration"));
  adapter->facts.head = true;
  EXPECT_THAT(message(), HasSubstr("'head.weight' is missing"));
  adapter->model.tensors = RandomTable(specs, 2);
  const auto merged = MergeAdapter(base, adapter, "adapter");
  CheckTensors(merged->tensors, merged->config, "merged");
  EXPECT_EQ(merged->tensors.Get("head.weight").data,
            adapter->model.tensors.Get("head.weight").data);
  EXPECT_EQ(merged->tensors.Find("head.transform.weight"), nullptr);
  const auto int8 = AdaptModel(base, QuantizeModel(*base), adapter, "adapter");
  EXPECT_EQ(int8.rest->tensors.Get("head.weight").type, TensorType::kI8);

  specs.push_back({"head.norm.weight", {16}});
  adapter->model.tensors = RandomTable(specs, 2);
  EXPECT_THAT(message(), HasSubstr("tensors of a head that the model has not"));
}

TEST_F(AdapterTest, AnotherBaseIsRefused) {
  Model other = SmallModel();
  other.tensors = RandomTensors(other.config, 9, 0.3);
  SaveModel(other, folder_ / "base");
  EXPECT_THAT(Message(), HasSubstr("adapter was trained on another model"));
  EXPECT_THAT(Message(), HasSubstr(base_->tensor_digest));
  SaveModel(*QuantizeModel(*base_), folder_ / "other");  // does not say of what
  EXPECT_THROW(LoadModelWith(folder_ / "other", path_), Error);
}

TEST_F(AdapterTest, AModelIsNoAdapterAndAnAdapterNoModel) {
  const auto message = [](const std::function<void()>& load) {
    try {
      load();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message([&] { LoadAdapter(folder_ / "base"); }),
              HasSubstr("is a model, expected an adapter"));
  EXPECT_THAT(message([&] { LoadModel(path_); }), HasSubstr("is an adapter, which runs with"));
  EXPECT_THAT(message([&] { SaveAdapter(*adapter_, folder_ / "base"); }),
              HasSubstr("is a model, which an adapter would take the place of"));
  EXPECT_THAT(message([&] { LoadAdapter(folder_); }), HasSubstr("did you mean"));
  fs::create_directories(folder_ / "run");
  SaveAdapter(*adapter_, folder_ / "run" / "adapter");
  EXPECT_THAT(message([&] { LoadModel(folder_ / "run"); }),
              AllOf(HasSubstr("run' is the run of an adapter, which runs with"),
                    HasSubstr("--adapter " + (folder_ / "run" / "adapter").string()),
                    HasSubstr(base_->tensor_digest)));
}

TEST_F(AdapterTest, RefusesWhatConfigJsonMustNotSay) {
  EXPECT_EQ(Message(), "");
  EXPECT_THAT(FactMessage("base_sha256", "abc"), HasSubstr("adapter.base_sha256 is 'abc'"));
  EXPECT_THAT(FactMessage("base_sha256", std::string(64, '0')), HasSubstr("another model"));
  EXPECT_THAT(FactMessage("rank", 0), HasSubstr("adapter.rank"));
  EXPECT_THAT(FactMessage("rank", "3"), HasSubstr("adapter.rank"));
  EXPECT_THAT(FactMessage("rank", 4), HasSubstr("expected a matrix of 4 rows"));
  EXPECT_THAT(FactMessage("alpha", 0), HasSubstr("adapter.alpha"));
  EXPECT_THAT(FactMessage("head", 1), HasSubstr("adapter.head"));
  EXPECT_THAT(FactMessage("ranc", 1), HasSubstr("'adapter.ranc' is unknown to format_version"));
  EXPECT_THAT(FactMessage("matrices", Json::array()), HasSubstr("is not part of this adapter"));
  EXPECT_THAT(FactMessage("matrices", {kChanged, kChanged}), HasSubstr("twice"));
  for (const char* name : {"encoder.embedding.weight", "head.weight", "", "encoder.layers.0.x"})
    EXPECT_THAT(FactMessage("matrices", {name}), HasSubstr("expected the weight of a layer"));
  EXPECT_THAT(FactMessage("matrices", {"encoder.layers.7.self_attention.query.weight"}),
              HasSubstr("'encoder.layers.7.self_attention.query.adapter_a' is missing"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["adapter"] = nullptr; }),
              HasSubstr("'adapter' is not a JSON object"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["adapter"].erase("rank"); }),
              HasSubstr("key 'adapter.rank' is missing"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["format_version"] = 6; }),
              HasSubstr("'adapter' is unknown to format_version 6"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["model"]["encoder"]["d_ff"] = 25; }),
              HasSubstr("encoder.d_ff is 25 in the adapter's configuration and"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["sha256"].erase("adapter.safetensors"); }),
              HasSubstr("sha256 does not list 'adapter.safetensors'"));
  for (const char* file : {"model.safetensors", "vocab.spm"}) {
    EXPECT_THAT(ConfigMessage([&](Json& c) { c["sha256"][file] = std::string(64, '0'); }),
                HasSubstr(std::string("sha256 lists ")));
  }
  EXPECT_EQ(ConfigMessage([](Json& c) { c["model"]["languages"] = {"en", "fr"}; }), "");
}

TEST_F(AdapterTest, RefusesTensorsThatDoNotFit) {
  EXPECT_THAT(TensorMessage([](auto* specs) { specs->pop_back(); }), HasSubstr("is missing"));
  EXPECT_THAT(TensorMessage([](auto* specs) { specs->push_back({"more", {1}}); }),
              HasSubstr("tensor 'more' is not part of this adapter"));
  EXPECT_THAT(TensorMessage([](auto* specs) { specs->push_back({"head.weight", {1}}); }),
              HasSubstr("tensor 'head.weight' is not part of this adapter"));
  EXPECT_THAT(TensorMessage([](auto* specs) { specs->front().shape = {kRank, 17}; }),
              HasSubstr("has shape [3, 17], expected [3, 16]"));
  EXPECT_THAT(TensorMessage([](auto* specs) { specs->back().shape = {15, kRank}; }),
              HasSubstr("has shape [15, 3], expected [16, 3]"));
  EXPECT_THAT(TensorMessage([](auto* specs) { specs->back().shape = {kRank, 16}; }),
              HasSubstr("expected a matrix of 3 columns"));
  EXPECT_THAT(TensorMessage([](auto* specs) { specs->back().shape = {16 * kRank}; }),
              HasSubstr("expected a matrix of 3 columns"));
  // Of a layer that the model has not.
  const std::string name = "encoder.layers.5.self_attention.query.weight";
  EXPECT_THAT(TensorMessage([&](auto* specs) {
                specs->push_back({AdapterAName(name), {kRank, 16}});
                specs->push_back({AdapterBName(name), {16, kRank}});
                Json config = ParseJson(ReadFile(path_ / "config.json"), "config.json");
                config["adapter"]["matrices"].push_back(name);
                Write("config.json", config.dump());
              }),
              HasSubstr("the model has no matrix 'encoder.layers.5.self_attention.query.weight'"));
}

TEST_F(AdapterTest, HostileBytesGiveOneErrorOrAnAdapter) {
  Random random({4});
  for (const char* file : {"config.json", "adapter.safetensors"}) {
    const std::string good = ReadFile(path_ / file);
    int refused = 0;
    for (int n = 0; n < 300; ++n) {
      std::string bytes = good;
      if (n % 3 == 0) bytes.resize(random.Below(bytes.size()));
      for (int i = 0; i < n % 3 && !bytes.empty(); ++i)
        bytes[random.Below(std::min<size_t>(bytes.size(), 4000))] =
            static_cast<char>(random.Below(256));
      Write(file, bytes);
      refused += Message().empty() ? 0 : 1;  // kInput alone
    }
    EXPECT_GT(refused, 100) << file;
    Write(file, good);
  }
  EXPECT_EQ(Message(), "");
}

}  // namespace
}  // namespace attend
