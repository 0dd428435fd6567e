// What the formulas alone do not show: sinusoids, masks, dropout and its places, stacks on their
// own.
#include "attend/nn/layers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/error.h"
#include "attend/nn/loss.h"
#include "attend/nn/masks.h"
#include "attend/nn/stacks.h"
#include "attend/nn/transformer.h"
#include "nn/test_models.h"

namespace attend::nn {
namespace {

double ZeroShare(const torch::Tensor& x) {
  return x.eq(0).to(torch::kFloat64).mean().item<double>();
}

TEST(PositionsTest, SinusoidsAreTheFormulaAtAnyLength) {
  constexpr int64_t kWidth = 8, kOffset = 3;
  for (const SinusoidConvention convention :
       {SinusoidConvention::kInterleaved, SinusoidConvention::kHalves,
        SinusoidConvention::kTimingSignal}) {
    const double pairs = kWidth / 2.0 - (convention == SinusoidConvention::kTimingSignal ? 1 : 0);
    SinusoidalPositionalEncoding positions(kWidth, convention, kOffset);
    for (const int64_t length : {1, 5, 3000, 7}) {  // grows, then serves a shorter one
      const torch::Tensor table = positions(torch::zeros({2, length, kWidth}, torch::kFloat64));
      ASSERT_EQ(table.sizes(), (at::IntArrayRef{2, length, kWidth}));
      for (const int64_t t : {int64_t{0}, length / 2, length - 1}) {
        for (int64_t i = 0; i < kWidth / 2; ++i) {
          const double angle = (t + kOffset) / std::pow(10000.0, i / pairs);
          const bool interleaved = convention == SinusoidConvention::kInterleaved;
          EXPECT_NEAR(table[1][t][interleaved ? 2 * i : i].item<double>(), std::sin(angle), 1e-12);
          EXPECT_NEAR(table[1][t][interleaved ? 2 * i + 1 : kWidth / 2 + i].item<double>(),
                      std::cos(angle), 1e-12);
        }
      }
    }
    EXPECT_EQ(positions(torch::zeros({1, 4, kWidth})).scalar_type(), torch::kFloat32);
  }
  EXPECT_THROW(SinusoidalPositionalEncoding(7), Error);
}

TEST(PositionsTest, LearnedRowsStartAtTheOffsetAndEnd) {
  LearnedPositionalEncoding positions(10, 4, 3);
  EXPECT_TRUE(torch::equal(positions(torch::zeros({1, 7, 4}))[0], positions->weight.slice(0, 3)));
  EXPECT_THROW(positions(torch::zeros({1, 8, 4})), Error);
}

TEST(MasksTest, HidePaddingAndTheFuture) {
  const torch::Tensor ids = torch::tensor({{5, 6, 7}, {5, 0, 0}});
  const torch::Tensor padding = PaddingMask(ValidTokens(ids, 0), torch::kFloat32);
  const torch::Tensor mask = CausalMask(3, padding.options()) + padding;
  const torch::Tensor allowed =
      torch::tensor({{{1, 0, 0}, {1, 1, 0}, {1, 1, 1}}, {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}}});
  EXPECT_TRUE(torch::equal(mask.squeeze(1).eq(0).to(torch::kInt64), allowed));
  EXPECT_TRUE(torch::equal(mask.squeeze(1).isneginf().to(torch::kInt64), 1 - allowed));
  EXPECT_FALSE(PaddingMask(ValidTokens(ids, -1), torch::kFloat32).defined());
}

TEST(AttentionTest, ALongWindowIsCutIntoBlocks) {
  ScaledDotProductAttention attention;
  torch::manual_seed(5);
  const auto options = torch::TensorOptions().dtype(torch::kFloat64);
  for (const int64_t length : {65, 97, 200}) {
    torch::Tensor valid_BS = torch::ones({3, length}, torch::kBool);
    valid_BS[1].slice(0, length / 2).fill_(false);
    valid_BS[2].slice(0, 1).fill_(false);
    const std::vector<AttentionMask> masks = {AttentionMask(), AttentionMask::Causal(),
                                              PaddingMask(valid_BS, torch::kFloat64)};
    for (const AttentionMask& mask : masks) {
      for (const int64_t window : {1, 7, 32, 50}) {
        std::vector<torch::Tensor> inputs;
        for (const int64_t width : {5, 5, 6})
          inputs.push_back(torch::randn({3, 2, length, width}, options).requires_grad_());
        const AttentionMask near = mask.Near(window);
        const torch::Tensor expected = attention(inputs[0], inputs[1], inputs[2], near).output_BHTV,
                            found = attention->Output(inputs[0], inputs[1], inputs[2], near);
        ASSERT_EQ(found.sizes(), expected.sizes());
        EXPECT_LT((found - expected).abs().max().item<double>(), 1e-12) << length << " " << window;
        const torch::Tensor weights = torch::randn_like(expected);
        const auto one = torch::autograd::grad({expected}, inputs, {weights}),
                   other = torch::autograd::grad({found}, inputs, {weights});
        for (size_t i = 0; i < inputs.size(); ++i)
          EXPECT_LT((other[i] - one[i]).abs().max().item<double>(), 1e-11) << length << " " << i;
      }
    }
  }
}

TEST(DropoutTest, EachSiteZeroesItsShareInTrainingOnly) {
  torch::manual_seed(1);
  const StackConfig config = SmallStack();
  TransformerEncoder embedded(config, Dropout{0, 0.3}, StackInput{30});
  const torch::Tensor ids = SmallIds(200, 1, false);
  EXPECT_NEAR(ZeroShare(embedded->Embed(ids)), 0.3, 0.02);
  embedded->eval();
  EXPECT_EQ(ZeroShare(embedded->Embed(ids)), 0);

  PositionwiseFeedForward feed_forward(config, 0.25);
  torch::NoGradGuard no_grad;
  feed_forward->inner->weight.zero_();
  feed_forward->inner->bias.fill_(1);
  feed_forward->outer->weight.zero_().select(1, 0).fill_(1);  // passes the first hidden unit on
  feed_forward->outer->bias.zero_();
  const torch::Tensor x = torch::randn({40, 100, 16});
  const torch::Tensor hidden = feed_forward(x).select(-1, 0);
  EXPECT_NEAR(ZeroShare(hidden), 0.25, 0.03);
  EXPECT_NEAR(hidden.max().item<double>(), 1 / 0.75, 1e-6);  // kept values make up for the rest
  feed_forward->eval();
  EXPECT_EQ(ZeroShare(feed_forward(x).select(-1, 0)), 0);

  ScaledDotProductAttention attention(0.4);
  const torch::Tensor query = torch::randn({8, 4, 50, 8}),
                      value = torch::eye(50).expand({8, 4, 50, 50});
  EXPECT_NEAR(ZeroShare(attention->Output(query, query, value)), 0.4, 0.02);
  const AttentionOutput traced = attention(query, query, value);
  EXPECT_NEAR(ZeroShare(traced.output_BHTV), 0.4, 0.02);
  EXPECT_EQ(ZeroShare(traced.weights_BHTS), 0);  // returned as they were before dropout
  attention->eval();
  EXPECT_EQ(ZeroShare(attention->Output(query, query, value)), 0);
}

TEST(DropoutTest, ResidualsLoseTheSubLayersOutputAndNothingElse) {
  torch::manual_seed(2);
  StackConfig config = SmallStack();
  config.norm_place =
      NormPlace::kPre;  // x + Dropout(Sublayer(Norm(x))): what is dropped leaves x as it was
  DecoderLayer layer(config, Dropout{0.35, 0});
  const torch::Tensor x = torch::randn({30, 20, 16}), memory = torch::randn({30, 9, 16});
  const auto changed = [&](const torch::Tensor& after, const torch::Tensor& before) {
    return ZeroShare(after - before);
  };
  LayerTrace trace;
  layer(x, CausalMask(20, x.options()), Memory{memory, {}}, &trace);
  EXPECT_NEAR(changed(trace.self_attention_BTD, x), 0.35, 0.02);
  EXPECT_NEAR(changed(trace.cross_attention_BTD, trace.self_attention_BTD), 0.35, 0.02);
  EXPECT_NEAR(changed(trace.feed_forward_BTD, trace.cross_attention_BTD), 0.35, 0.02);
  layer->eval();
  layer(x, CausalMask(20, x.options()), Memory{memory, {}}, &trace);
  EXPECT_LT(changed(trace.self_attention_BTD, x), 0.01);
}

TEST(StacksTest, WorkAloneOnVectors) {
  const StackConfig config = SmallStack();
  const torch::Tensor x = torch::randn({2, 5, 16});
  TransformerEncoder encoder(config);
  TransformerDecoder decoder(config, Dropout{}, 0, /*with_cross_attention=*/false);
  encoder->eval();
  decoder->eval();
  EXPECT_EQ(encoder(x).sizes(), x.sizes());
  const torch::Tensor causal = CausalMask(5, x.options());
  // Without cross-attention a decoder's layer is an encoder's.
  torch::NoGradGuard no_grad;
  for (const auto& parameter : decoder->named_parameters()) {
    parameter.value().copy_(encoder->named_parameters()[parameter.key()]);
  }
  EXPECT_TRUE(torch::equal(decoder(x, causal), encoder(x, causal)));
}

// A patch embedding is a convolution whose stride is its kernel (Dosovitskiy et al. 2021).
TEST(PatchEmbeddingTest, IsAConvolutionAfterAClassToken) {
  torch::manual_seed(5);
  const PatchInput input{.height = 6, .width = 8, .channels = 3, .patch = 2};
  constexpr int64_t kPictures = 2, kWidth = 10;
  PatchEmbedding embedding(input, kWidth);
  embedding->to(torch::kFloat64);
  for (torch::Tensor& parameter : embedding->parameters())
    parameter.set_data(torch::randn_like(parameter));
  const torch::Tensor pixels_BHWC = torch::randn({kPictures, 6, 8, 3}, torch::kFloat64);
  const torch::Tensor patches_PE = pixels_BHWC.reshape({kPictures, 3, 2, 4, 2, 3})
                                       .permute({0, 1, 3, 2, 4, 5})
                                       .reshape({kPictures * 12, 12});
  const torch::Tensor kernel_DCPP =
      embedding->weight.detach().reshape({kWidth, 2, 2, 3}).permute({0, 3, 1, 2}).clone();
  kernel_DCPP.set_requires_grad(true);
  const torch::Tensor expected_BPD =
      torch::conv2d(pixels_BHWC.permute({0, 3, 1, 2}), kernel_DCPP, embedding->bias.detach(), 2)
          .flatten(2)
          .transpose(1, 2);
  const torch::Tensor found_BTD = embedding(patches_PE);
  ASSERT_EQ(found_BTD.sizes(), (std::vector<int64_t>{kPictures, input.rows(), kWidth}));
  EXPECT_TRUE(torch::allclose(found_BTD.slice(1, 1), expected_BPD, 1e-10, 1e-10));
  for (int64_t b = 0; b < kPictures; ++b)
    EXPECT_TRUE(torch::equal(found_BTD[b][0], embedding->class_token));
  const torch::Tensor factors = torch::randn_like(found_BTD);
  (found_BTD * factors).sum().backward();
  (expected_BPD * factors.slice(1, 1)).sum().backward();
  EXPECT_TRUE(torch::allclose(embedding->weight.grad(),
                              kernel_DCPP.grad().permute({0, 2, 3, 1}).reshape({kWidth, 12}), 1e-10,
                              1e-10));
  EXPECT_TRUE(
      torch::allclose(embedding->class_token.grad(), factors.select(1, 0).sum(0), 1e-10, 1e-10));
}

// Against torch::conv1d, with gradients, of recordings one after another: also of one frame and of
// fewer than the kernel.
TEST(FrameConvolutionsTest, AreConvolutionsOfEachRecordingAlone) {
  torch::manual_seed(7);
  const FrameInput input{.mels = 3, .kernels = {3, 5}, .strides = {1, 2}};
  constexpr int64_t kWidth = 4;
  const std::vector<int64_t> lengths = {7, 1, 2, 30, 8};
  FrameConvolutions convolutions(input, kWidth);
  convolutions->to(torch::kFloat64);
  std::vector<torch::Tensor> plain;  // weight [D, in, kernel] and bias of each
  for (const auto& layer : convolutions->children()) {
    auto* linear = layer->as<LinearLayerImpl>();
    for (torch::Tensor& parameter : linear->parameters())
      parameter.set_data(torch::randn_like(parameter));
    const int64_t kernel = input.kernels[plain.size() / 2];
    plain.push_back(linear->weight.detach()
                        .unflatten(1, {kernel, -1})
                        .transpose(1, 2)
                        .clone()
                        .set_requires_grad(true));
    plain.push_back(linear->bias.detach().clone().set_requires_grad(true));
  }
  std::vector<torch::Tensor> recordings, expected;
  std::vector<int64_t> offsets = {0};
  for (const int64_t length : lengths) {
    recordings.push_back(torch::randn({length, 3}, torch::kFloat64));
    offsets.push_back(offsets.back() + length);
    torch::Tensor x_ET = recordings.back().t().unsqueeze(0);
    for (size_t i = 0; i < 2; ++i) {
      x_ET = torch::gelu(torch::conv1d(x_ET, plain[2 * i], plain[2 * i + 1], input.strides[i],
                                       input.kernels[i] / 2));
    }
    expected.push_back(x_ET[0].t());
    EXPECT_EQ(expected.back().size(0), input.RowsOf(length));
  }
  const torch::Tensor found_RD =
      convolutions(torch::cat(recordings), torch::tensor(offsets, torch::kInt64));
  const torch::Tensor expected_RD = torch::cat(expected);
  ASSERT_EQ(found_RD.sizes(), expected_RD.sizes());
  EXPECT_TRUE(torch::allclose(found_RD, expected_RD, 1e-10, 1e-10));
  const torch::Tensor factors_RD = torch::randn_like(found_RD);
  (found_RD * factors_RD).sum().backward();
  (expected_RD * factors_RD).sum().backward();
  size_t i = 0;
  for (const auto& layer : convolutions->children()) {
    auto* linear = layer->as<LinearLayerImpl>();
    EXPECT_TRUE(torch::allclose(linear->weight.grad(), plain[i].grad().transpose(1, 2).flatten(1),
                                1e-9, 1e-9));
    EXPECT_TRUE(torch::allclose(linear->bias.grad(), plain[i + 1].grad(), 1e-9, 1e-9));
    i += 2;
  }
}

// Packed pictures have the states of whole ones, and the loss of mixtures of one class is the loss.
TEST(PatchEmbeddingTest, PackedPicturesAreWholeOnes) {
  torch::manual_seed(6);
  ModelConfig config = PresetConfig("vit-tiny");
  config.task = "classification";
  config.source_vocab_size = config.target_vocab_size = 0;
  config.head = HeadKind::kLabels;
  config.labels = {"a", "b", "c"};
  config.pooling = Pooling::kFirst;
  config.encoder->layers = 2;
  Transformer model(config);
  model->eval();
  PackedIds read;
  read.longest = config.patches->rows();
  read.offsets_B1 = torch::arange(4, torch::kInt64) * read.longest;
  read.positions_R = torch::arange(read.longest, torch::kInt64).repeat({3});
  read.patches_PE = torch::randn({3 * config.patches->patches(), config.patches->patch_size()});
  const torch::Tensor packed_RD = model->PackedEncode(read);
  const torch::Tensor whole_BTD = model->EncodePictures(read.patches_PE);
  EXPECT_TRUE(torch::allclose(packed_RD, whole_BTD.flatten(0, 1), 1e-4, 1e-5));
  const torch::Tensor logits_BL = model->Logits(model->Pool(packed_RD, read));
  const torch::Tensor labels_B = torch::tensor({2, 0, 1}, torch::kInt64);
  LabelSmoothingLoss loss(0.1, -1);
  const LossSums expected = loss(logits_BL, labels_B);
  const LossSums found =
      loss->FromMixtures(logits_BL, torch::one_hot(labels_B, 3).to(torch::kFloat32));
  EXPECT_NEAR(found.loss.item<double>(), expected.loss.item<double>(), 1e-5);
  EXPECT_NEAR(found.nll.item<double>(), expected.nll.item<double>(), 1e-5);
  EXPECT_EQ(found.tokens, 3);
}

}  // namespace
}  // namespace attend::nn
