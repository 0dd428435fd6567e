#include "nn/measure/table1_layer.h"

#include <algorithm>
#include <cmath>

#include "attend/nn/attention.h"
#include "attend/nn/convolutional_model.h"
#include "attend/nn/recurrent_model.h"
#include "nn/fused/packed_attention.h"
#include "nn/linear.h"

namespace attend::nn {
namespace {

const auto kExact = torch::TensorOptions().dtype(torch::kFloat64);

torch::Tensor OneSequence(int64_t length) { return torch::tensor({int64_t{0}, length}); }

AttentionMask WithinOne(int64_t length, int64_t window) {
  return AttentionMask::Packed(OneSequence(length), OneSequence(length), /*causal=*/false)
      .Near(window);
}

torch::Tensor Noise(at::IntArrayRef shape) { return torch::randn(shape, kExact); }

// Ones where a row of the gradient has anything: how much does not matter, and could vanish.
torch::Tensor Reached(const torch::Tensor& gradient_ND) {
  return gradient_ND.ne(0).any(1, /*keepdim=*/true).to(torch::kFloat64);
}

class AttentionLayer : public Table1Layer {
 public:
  AttentionLayer(const LayerShape& shape, int64_t window)
      : heads_(std::max<int64_t>(1, shape.width / shape.head_width)),
        shape_{heads_, shape.width / heads_, shape.width / heads_},
        window_(window) {}
  int64_t InputWidth() const override { return 3 * heads_ * shape_.key_width; }
  torch::Tensor Forward(const torch::Tensor& x_ND, int64_t) override {
    return PackedAttention(x_ND, {}, shape_, WithinOne(x_ND.size(0), window_), {});
  }

 private:
  int64_t heads_;
  HeadShape shape_;
  int64_t window_;
};

class MultiHeadLayer : public Table1Layer {
 public:
  explicit MultiHeadLayer(const LayerShape& shape) : width_(shape.width) {
    StackConfig config;
    config.d_model = shape.width;
    config.heads = std::max<int64_t>(1, shape.width / shape.head_width);
    attention_ = register_module("attention", MultiHeadAttention(config));
  }
  int64_t InputWidth() const override { return width_; }
  torch::Tensor Forward(const torch::Tensor& x_ND, int64_t) override {
    return attention_(x_ND, x_ND, WithinOne(x_ND.size(0), /*window=*/0));
  }

 private:
  int64_t width_;
  MultiHeadAttention attention_{nullptr};
};

class LstmLayer : public Table1Layer {
 public:
  explicit LstmLayer(const LayerShape& shape) : width_(shape.width) {
    layer_ =
        register_module("layer", RecurrentLayer(Architecture::kLstm, shape.width, shape.width));
  }
  int64_t InputWidth() const override { return width_; }
  torch::Tensor Forward(const torch::Tensor& x_ND, int64_t) override {
    return layer_->forward(x_ND.unsqueeze(1)).squeeze(1);
  }
  torch::ScalarType PlainType() const override { return torch::kFloat64; }
  // A layer reaches all positions, step by step: from a step the gradient goes on to the state.
  int64_t PathLength(int64_t length) override {
    torch::Tensor gradient_1E;
    for (int64_t steps = 1;; ++steps) {
      const torch::Tensor x = Noise({1, 1, width_}).requires_grad_(),
                          state = Noise({1, layer_->StateSize()}).requires_grad_();
      torch::Tensor after = state;
      const torch::Tensor y = layer_->forward(x, &after);
      const bool last = !gradient_1E.defined();
      const auto found = torch::autograd::grad({last ? y : after}, {x, state},
                                               {last ? Noise(y.sizes()) : gradient_1E});
      if (steps == length) return found[0].ne(0).any().item<bool>() ? steps : 0;
      gradient_1E = Reached(found[1]) * Noise(state.sizes());
    }
  }

 private:
  int64_t width_;
  RecurrentLayer layer_{nullptr};
};

// The windows of one sequence's rows.
class OneSequenceWindows {
 public:
  OneSequenceWindows(int64_t kernel_width, int64_t before)
      : kernel_width_(kernel_width), before_(before) {}
  torch::Tensor Of(const torch::Tensor& x_ND, int64_t dilation) const {
    PackedIds ids;
    ids.ids_R = torch::empty({x_ND.size(0)}, x_ND.options().dtype(torch::kInt64));
    ids.offsets_B1 = OneSequence(x_ND.size(0));
    return Windows(ids, kernel_width_, before_, dilation).Of(x_ND);
  }

 private:
  int64_t kernel_width_, before_;
};

class ConvolutionLayer : public Table1Layer {
 public:
  ConvolutionLayer(const LayerShape& shape, bool dilated)
      : width_(shape.width),
        kernel_width_(shape.kernel_width),
        dilated_(dilated),
        // A dilated one looks back, as a decoder's: all places are in reach, none twice.
        windows_(shape.kernel_width, dilated ? shape.kernel_width - 1 : shape.kernel_width / 2) {
    convolution_ = register_module(
        "convolution", GatedConvolution(shape.width, shape.kernel_width, /*dropout=*/0));
  }
  int64_t InputWidth() const override { return width_; }
  torch::Tensor Forward(const torch::Tensor& x_ND, int64_t depth) override {
    const double dilation = dilated_ ? std::pow(kernel_width_, depth) : 1;
    return convolution_(windows_.Of(x_ND, static_cast<int64_t>(dilation)));
  }

 private:
  int64_t width_, kernel_width_;
  bool dilated_;
  OneSequenceWindows windows_;
  GatedConvolution convolution_{nullptr};
};

class SeparableLayer : public Table1Layer {
 public:
  explicit SeparableLayer(const LayerShape& shape)
      : width_(shape.width),
        kernel_width_(shape.kernel_width),
        windows_(shape.kernel_width, shape.kernel_width / 2) {
    each_column_ = register_parameter("each_column", torch::zeros({kernel_width_, width_}));
    across_ = register_module("across", LinearLayer(width_, width_, /*with_bias=*/true));
  }
  int64_t InputWidth() const override { return width_; }
  torch::Tensor Forward(const torch::Tensor& x_ND, int64_t) override {
    const torch::Tensor windows_NWD = windows_.Of(x_ND, 1).view({-1, kernel_width_, width_});
    return Linear((windows_NWD * each_column_).sum(1), across_);
  }

 private:
  int64_t width_, kernel_width_;
  OneSequenceWindows windows_;
  torch::Tensor each_column_;
  LinearLayer across_{nullptr};
};

std::unique_ptr<Table1Layer> OfKind(const LayerShape& shape) {
  switch (shape.kind) {
    case LayerKind::kAttention:
      return std::make_unique<AttentionLayer>(shape, 0);
    case LayerKind::kWindowedAttention:
      return std::make_unique<AttentionLayer>(shape, shape.window);
    case LayerKind::kMultiHeadAttention:
      return std::make_unique<MultiHeadLayer>(shape);
    case LayerKind::kLstm:
      return std::make_unique<LstmLayer>(shape);
    case LayerKind::kConvolution:
      return std::make_unique<ConvolutionLayer>(shape, /*dilated=*/false);
    case LayerKind::kSeparableConvolution:
      return std::make_unique<SeparableLayer>(shape);
    case LayerKind::kDilatedConvolution:
      return std::make_unique<ConvolutionLayer>(shape, /*dilated=*/true);
  }
  return nullptr;  // all are named above
}

}  // namespace

// The gradient goes down a stack of such layers, whose inputs are random.
int64_t Table1Layer::PathLength(int64_t length) {
  torch::Tensor reached_N1 = torch::zeros({length, 1}, kExact);
  reached_N1[-1] = 1;
  for (int64_t layers = 1; layers <= length; ++layers) {
    const torch::Tensor x_ND = Noise({length, InputWidth()}).requires_grad_();
    const torch::Tensor y_ND = Forward(x_ND, layers - 1);
    reached_N1 =
        Reached(torch::autograd::grad({y_ND}, {x_ND}, {reached_N1 * Noise(y_ND.sizes())})[0]);
    if (reached_N1[0].item<double>() > 0) return layers;
  }
  return 0;
}

std::unique_ptr<Table1Layer> MakeTable1Layer(const LayerShape& shape) {
  std::unique_ptr<Table1Layer> layer = OfKind(shape);
  const torch::NoGradGuard no_grad;
  for (const torch::Tensor& parameter : layer->parameters())
    parameter.normal_(0, 1 / std::sqrt(static_cast<double>(parameter.size(-1))));
  return layer;
}

}  // namespace attend::nn
