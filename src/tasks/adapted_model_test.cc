// Models with adapters: the merged models' bits, and one base in memory for all of them.
#include <gtest/gtest.h>

#include "attend/error.h"
#include "attend/tagger.h"
#include "attend/translator.h"
#include "engine/plain_transformer.h"
#include "kernels/inference/dispatch.h"
#include "model/adapter_fixture.h"
#include "model/quantize.h"
#include "tasks/label_model_fixture.h"
#include "tasks/loaded_model.h"

namespace attend {
namespace {

using Adapted = std::shared_ptr<const LoadedModel>;

std::shared_ptr<const Model> Base() { return WithDigest(*MakeModel(SmallConfig())); }

Adapted WithAdapter(const Adapted& base, const std::shared_ptr<const Adapter>& adapter) {
  return std::make_shared<LoadedModel>(base, adapter, "adapter");
}

std::vector<Hypothesis> Translate(const Adapted& loaded) {
  const Translator translator(loaded, {.threads = 2});
  std::vector<Hypothesis> best;
  for (const Translation& translation :
       translator.TranslateIds(RandomSentences(20, 9, 3), {.max_length = 12}))
    best.push_back(translation.hypotheses[0]);
  return best;
}

bool SameBits(const std::vector<Hypothesis>& a, const std::vector<Hypothesis>& b) {
  return std::ranges::equal(a, b, [](const Hypothesis& x, const Hypothesis& y) {
    return x.ids == y.ids && x.score == y.score;
  });
}

class AdaptedModelTest : public testing::TestWithParam<std::string> {};

TEST_P(AdaptedModelTest, GivesTheBitsOfTheMergedModel) {
  const auto f32 = Base();
  auto int8 = QuantizeModel(*f32);
  int8->tensor_digest = "";
  int8->provenance[kQuantizedFrom] = f32->tensor_digest;
  const auto one = MakeAdapter(*f32, 4, 1), other = MakeAdapter(*f32, 2, 2);
  for (const auto& [model, type] :
       {std::pair<std::shared_ptr<const Model>, WeightType>(f32, WeightType::kStored),
        {f32, WeightType::kInt8},
        {int8, WeightType::kStored}}) {
    const LoadOptions options{.type = type, .instruction_set = GetParam()};
    const Adapted base = Load(model, options);
    const auto of_base = Translate(base), of_one = Translate(WithAdapter(base, one)),
               of_other = Translate(WithAdapter(base, other));
    EXPECT_TRUE(SameBits(of_one, Translate(Load(MergeAdapter(model, one, "one"), options))));
    EXPECT_TRUE(SameBits(of_other, Translate(Load(MergeAdapter(model, other, "other"), options))));
    EXPECT_TRUE(SameBits(of_base, Translate(Load(model, options))));
    EXPECT_FALSE(SameBits(of_one, of_base));
    EXPECT_FALSE(SameBits(of_one, of_other));
  }
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, AdaptedModelTest,
                         testing::ValuesIn(AvailableInstructionSets()),
                         [](const auto& tested) { return tested.param; });

// What the service counts on: with N adapters in memory stand a base and N times what they change.
TEST(AdaptedModelMemoryTest, AnAdapterCostsItsAdaptedMatricesAlone) {
  for (const WeightType type : {WeightType::kStored, WeightType::kInt8}) {
    const auto model = Base();
    const Adapted base = Load(model, {.type = type});
    const size_t before = base->weights.packed.bytes();
    const auto adapter = MakeAdapter(*model, 4, 1);
    const Adapted adapted = WithAdapter(base, adapter);
    const KernelTable& kernels = base->weights.kernels;
    const auto packed = [&](int64_t columns) {
      return type == WeightType::kInt8 ? kernels.packed_size_int8(columns, 16)
                                       : kernels.packed_size_f32(columns, 16) * sizeof(float);
    };
    // Queries, keys and values of self-attention are one product; so are keys and values of
    // cross-attention.
    EXPECT_EQ(adapted->weights.packed.bytes(), 2 * (2 * packed(48) + packed(16) + packed(32)));
    EXPECT_EQ(base->weights.packed.bytes(), before);
    EXPECT_LT(adapted->weights.packed.bytes(), before);
    // All else lies where the base has it, and what was packed is not held besides.
    for (const TensorView& tensor : adapted->model().tensors.tensors())
      EXPECT_EQ(tensor.data, base->model().tensors.Get(tensor.name).data) << tensor.name;
    for (const std::string& name : adapter->facts.matrices)
      EXPECT_EQ(adapted->model().tensors.Find(name), nullptr) << name;
    EXPECT_EQ(adapted->source_vocabulary, base->source_vocabulary);
  }
}

TEST(AdaptedModelMemoryTest, TheBaseLivesAsLongAsItsAdapters) {
  const auto model = Base();
  Adapted base = Load(model);
  const Adapted adapted = WithAdapter(base, MakeAdapter(*model, 4, 1));
  const auto before = Translate(adapted);
  base.reset();
  EXPECT_TRUE(SameBits(Translate(adapted), before));
}

TEST(AdaptedModelTaskTest, AHeadOfItsOwnRunsOnTheBasesEncoder) {
  const auto tagger = MakeLabelModel("tagging", Pooling::kTokens, {"O", "B-X", "I-X"});
  Model encoder = *tagger;
  encoder.config.task = "masked_language_model";
  encoder.config.head = HeadKind::kVocabulary;
  encoder.config.labels.clear();
  encoder.config.label_scheme = LabelScheme::kNone;
  encoder.config.crf = false;
  encoder.tensors = RandomTensors(encoder.config, 7, 0.5);
  const auto model = WithDigest(encoder);
  const auto adapter = MakeAdapter(*model, 4, 1);
  adapter->model.config = tagger->config;
  adapter->facts.head = true;
  std::vector<TensorSpec> specs;
  for (const TensorView& tensor : adapter->model.tensors.tensors())
    specs.push_back({tensor.name, tensor.shape});
  for (const TensorSpec& spec : ExpectedTensors(tagger->config))
    if (IsOfHead(spec.name)) specs.push_back(spec);
  adapter->model.tensors = RandomTable(specs, 3);
  const std::vector<std::string> texts = {"lumi tavo keri", "sona mipa"};
  for (const WeightType type : {WeightType::kStored, WeightType::kInt8}) {
    const Tagger own(WithAdapter(Load(model, {.type = type}), adapter), 1),
        merged(Load(MergeAdapter(model, adapter, "adapter"), {.type = type}), 1);
    const auto found = own.Tag(texts), expected = merged.Tag(texts);
    for (size_t i = 0; i < texts.size(); ++i) {
      ASSERT_EQ(found[i].words.size(), expected[i].words.size());
      for (size_t w = 0; w < found[i].words.size(); ++w) {
        EXPECT_EQ(found[i].words[w].label, expected[i].words[w].label);
        EXPECT_EQ(found[i].words[w].probability, expected[i].words[w].probability);
      }
    }
  }
  EXPECT_THROW(Tagger(Load(model), 1), Error);
}

TEST(AdaptedModelTaskTest, AnAdapterOfAnotherModelIsRefused) {
  const auto model = Base();
  const auto adapter = MakeAdapter(*model, 4, 1);
  const auto other = std::make_shared<Adapter>(*adapter);
  other->facts.base_sha256 = std::string(64, '0');
  EXPECT_THROW(WithAdapter(Load(model), other), Error);
  const Adapted adapted = WithAdapter(Load(model), adapter);
  EXPECT_THROW(WithAdapter(adapted, adapter), Error);
}

}  // namespace
}  // namespace attend
