// The convolutional model that the paper compares the Transformer with: ConvS2S (Gehring et al.
// 2017, "Convolutional Sequence to Sequence Learning"), without its weight normalisation.
#ifndef ATTEND_NN_CONVOLUTIONAL_MODEL_H_
#define ATTEND_NN_CONVOLUTIONAL_MODEL_H_

#include <cstdint>
#include <optional>

#include "attend/nn/linear_layer.h"
#include "attend/nn/sequence_model.h"
#include "attend/nn/stacks.h"
#include "attend/nn/torch.h"

namespace attend::nn {

// A gated linear unit over each token and its neighbours: (x W + b) * sigmoid(x V + c), of windows
// x of `kernel_width` rows, zeros outside of a sentence. A separable one first adds up the rows of
// a window, each times `columns` of its place (Chollet 2017).
class GatedConvolutionImpl : public torch::nn::Module {
 public:
  // `dropout` of the input counts in the initial weights alone.
  GatedConvolutionImpl(int64_t width, int64_t kernel_width, double dropout, bool separable = false);
  // Windows [R, kernel_width * D], the first row's columns first, to [R, D].
  torch::Tensor forward(const torch::Tensor& windows_RE);
  double dropout() const { return dropout_; }

  torch::Tensor weight, bias;  // [2 D, kernel_width * D] or [2 D, D]: W above V; [2 D]
  torch::Tensor columns;       // [kernel_width, D] of a separable one, else undefined

 private:
  double dropout_;
};
TORCH_MODULE(GatedConvolution);

// Windows of rows that stand packed, for all layers of a stack.
class Windows {
 public:
  // `before`: rows of a window before its own. They stand `dilation` apart.
  Windows(const PackedIds& ids, int64_t kernel_width, int64_t before, int64_t dilation = 1);
  torch::Tensor Of(const torch::Tensor& x_RD) const;  // [R, kernel_width * D]

 private:
  torch::Tensor rows_RW_;  // R: a row of zeros
};

// What attention looks at, and what it takes from there.
struct ConvolutionalMemory {
  torch::Tensor keys, values;
};

class ConvolutionalEncoderImpl : public StackImpl {
 public:
  ConvolutionalEncoderImpl(const StackConfig& config, const Dropout& dropout, int64_t vocab_size);
  // Outputs, and their sums with the embeddings.
  ConvolutionalMemory forward(const PackedIds& ids, DropoutStream* dropout);

  LinearLayer input{nullptr}, output{nullptr};

 private:
  int64_t kernel_width_;
  double dropout_;
};
TORCH_MODULE(ConvolutionalEncoder);

// Convolution over a token and those before it, then attention to the encoder.
class ConvolutionalDecoderLayerImpl : public torch::nn::Module {
 public:
  ConvolutionalDecoderLayerImpl(const StackConfig& config, const Dropout& dropout);
  // What the layer asks the encoder, of the convolution's outputs and the embeddings.
  torch::Tensor Query(const torch::Tensor& y_RD, const torch::Tensor& embedded_RD);
  // With the layer's input, and what was found in a source of so many tokens [R, 1].
  torch::Tensor Finish(const torch::Tensor& x_RD, const torch::Tensor& y_RD,
                       const torch::Tensor& found_RD, const torch::Tensor& source_lengths_R1);

  GatedConvolution convolution{nullptr};
  LinearLayer query{nullptr}, output{nullptr};
};
TORCH_MODULE(ConvolutionalDecoderLayer);

class ConvolutionalDecoderImpl : public StackImpl {
 public:
  ConvolutionalDecoderImpl(const StackConfig& config, const Dropout& dropout, int64_t vocab_size);
  // Of embedded rows.
  torch::Tensor forward(const torch::Tensor& embedded_RD, const PackedIds& ids,
                        const ConvolutionalMemory& memory, const PackedIds& source,
                        DropoutStream* dropout);
  DecoderState Start(const ConvolutionalMemory& memory, const torch::Tensor& offsets_B1);
  torch::Tensor Step(const torch::Tensor& embedded_RD, DecoderState* state);

  LinearLayer input{nullptr}, output{nullptr};

 private:
  int64_t kernel_width_;
  double dropout_;
};
TORCH_MODULE(ConvolutionalDecoder);

class ConvolutionalModelImpl : public SequenceModelImpl {
 public:
  ConvolutionalModelImpl(const ModelConfig& config, const Dropout& dropout, uint64_t seed);
  torch::Tensor PackedHidden(const PackedIds& source, const PackedIds& target,
                             const std::optional<DropoutKey>& dropout = {}) override;
  DecoderState Start(const PackedIds& source) override;
  torch::Tensor Step(const torch::Tensor& ids_R, DecoderState* state) override;

  ConvolutionalEncoder encoder{nullptr};
  ConvolutionalDecoder decoder{nullptr};

 protected:
  const StackImpl* encoder_stack() const override { return encoder.get(); }
  const StackImpl* decoder_stack() const override { return decoder.get(); }
};

}  // namespace attend::nn

#endif  // ATTEND_NN_CONVOLUTIONAL_MODEL_H_
