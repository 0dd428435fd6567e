// What a model is: the shape of its stacks and how their parts are put together. Plain values; the
// default is the paper's base model. "Attention Is All You Need", section 3.
#ifndef ATTEND_MODEL_CONFIG_H_
#define ATTEND_MODEL_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace attend {

// What both stacks are made of. The engine runs the Transformer; the others, which the paper
// compares it with, are trained and searched through LibTorch.
enum class Architecture {
  kTransformer,
  kLstm,         // deep LSTMs with attention, in GNMT's shape (Wu et al. 2016)
  kGru,          // the same of GRUs
  kConvolution,  // ConvS2S (Gehring et al. 2017)
};
// Of the feed-forward layer. The gated ones multiply a second product of the input, with their
// activation, by the first (Shazeer 2020).
enum class Activation {
  kRelu,      // the paper's
  kGelu,      // x Phi(x), BERT's
  kSwiGlu,    // gated by silu
  kGeluTanh,  // gelu's approximation by tanh, GPT-2's
  kSilu,      // x sigmoid(x), Marian's swish
  kGeGluTanh  // gated by gelu_tanh, T5's
};
constexpr bool IsGated(Activation activation) {
  return activation == Activation::kSwiGlu || activation == Activation::kGeGluTanh;
}
// What a decoder's layers have in place of self-attention.
enum class Recurrence {
  kNone,
  kSsru,  // a simpler simple recurrent unit (Kim et al. 2019), Marian's students
};
enum class NormKind {
  kLayerNorm,
  kRmsNorm,  // x / sqrt(mean of x^2) times a weight, without a bias (Zhang and Sennrich 2019), T5's
};
enum class NormPlace {
  kPost,  // LayerNorm(x + Sublayer(x)), the paper's
  kPre,   // x + Sublayer(LayerNorm(x)), and one more norm at the end of the stack
};
enum class PositionKind {
  kSinusoidal,
  kLearned,
  kNone,
  kRelative,  // nothing is added to embeddings; self-attention's scores depend on distances, T5's
};
enum class SinusoidConvention {
  kInterleaved,  // sine at even, cosine at odd columns, exponent 2i / d_model: the paper's
  kHalves,       // all sines, then all cosines, same exponents
  kTimingSignal  // the same in halves, with exponents i / (d_model / 2 - 1): tensor2tensor's
};
enum class InputKind { kTokens, kPatches, kFrames, kItems };
enum class HeadKind { kNone, kVocabulary, kLabels };
// What a head of labels labels.
enum class Pooling {
  kTokens,  // every token
  kFirst,   // the text, by its first token's vector
  kMean,    // the text, by the mean of its tokens' vectors
};
// The kinds of Pooling that make one vector of a text.
enum class TextPooling { kFirst, kMean };
// Of the dense layer between a text's vector and its labels.
enum class PoolerActivation {
  kTanh,  // BERT's
  kRelu,  // DistilBERT's
};
constexpr Pooling PoolingOf(TextPooling pooling) {
  return pooling == TextPooling::kFirst ? Pooling::kFirst : Pooling::kMean;
}

// How the label of a word says where an entity begins and ends. Outside of all stands O.
enum class LabelScheme {
  kIob1,   // I in an entity; B where it follows another one of its type at once
  kIob2,   // B at the first word, I at the others
  kIobes,  // S alone, else B at the first word, E at the last, I between
  kNone,   // labels of another kind
  kIob,    // B begins an entity, so does I after O or another type; any label may follow any
};

// How a picture of another size becomes one of the model's.
enum class PictureFit {
  kStretch,  // each side to its own size
  kCrop,     // the shorter side to its size, then the middle of the longer one
};
enum class Resampling { kBilinear, kBicubic };

// What an encoder of pictures reads: a picture cut into patches, row by row. A patch is patch *
// patch * channels numbers: its pixels row by row, the channels of each side by side, from 0 to 1,
// less `mean` and divided by `deviation` (the Vision Transformer, Dosovitskiy et al. 2021).
struct PatchInput {
  int64_t height = 224, width = 224;  // of a picture, in pixels; multiples of `patch`
  int64_t channels = 3;               // 1: grey; 3: red, green and blue
  int64_t patch = 16;                 // side of a patch
  bool class_token = true;            // a learned vector before those of the patches
  PictureFit fit = PictureFit::kStretch;
  Resampling resampling = Resampling::kBilinear;
  std::vector<double> mean = {0.5}, deviation = {0.5};  // of each channel, or of all

  int64_t patches() const { return (height / patch) * (width / patch); }
  int64_t rows() const { return patches() + (class_token ? 1 : 0); }  // that the stack has
  int64_t patch_size() const { return patch * patch * channels; }     // numbers
  int64_t bytes() const { return height * width * channels; }         // of a picture
  bool operator==(const PatchInput&) const = default;
};

enum class FrameScale {
  // Whisper's: the logarithm to base 10, at most 8 below the loudest number of the recording; then
  // (x + 4) / 4.
  kWhisper,
  kRecording,  // all numbers of a recording together have mean 0 and deviation 1
  kBands,      // those of each band of a recording have
};

// What an encoder of sound reads: log-mel frames of a recording, through convolutions over time
// that shorten it, each with biases and gelu (Whisper, Radford et al. 2022). A convolution sees
// `kernel` rows around its own, zeros beyond the ends, and gives d_model numbers for every
// `stride`-th row. The defaults are Whisper's.
struct FrameInput {
  int64_t rate = 16000;  // samples a second
  int64_t fft = 400;     // samples that a frame sees, even
  int64_t hop = 160;     // samples from one frame to the next
  int64_t mels = 80;     // bands, numbers of a frame
  double low = 0;        // Hz, where the lowest band begins
  double high = 0;       // Hz, where the highest ends; 0: half the rate
  FrameScale scale = FrameScale::kWhisper;
  std::vector<int64_t> kernels = {3, 3}, strides = {1, 2};  // of each convolution; odd kernels
  double padded_seconds = 0;  // silence fills recordings up to this; 0: none does
  // Of the longest recording of training; 0: not known. Longer ones are cut at silence.
  double longest_seconds = 0;

  // 0: recordings have the samples that they have.
  int64_t padded_samples() const;
  // Of so many samples: one for each whole hop, and at least one of any sound; 0 of none.
  int64_t FramesOf(int64_t samples) const;
  // That the convolutions leave of so many frames.
  int64_t RowsOf(int64_t frames) const;
  bool operator==(const FrameInput&) const = default;
};

// One stack of layers, encoder or decoder. Sizes count elements.
struct StackConfig {
  int64_t layers = 6;
  int64_t d_model = 512;
  int64_t heads = 8;
  int64_t d_k = 0;  // width of one head's queries and keys; 0: d_model / heads
  int64_t d_v = 0;  // width of one head's values; 0: d_model / heads
  int64_t d_ff = 2048;
  Activation activation = Activation::kRelu;
  NormKind norm = NormKind::kLayerNorm;
  NormPlace norm_place = NormPlace::kPost;
  double norm_epsilon = 1e-6;
  PositionKind positions = PositionKind::kSinusoidal;
  SinusoidConvention position_convention = SinusoidConvention::kInterleaved;
  int64_t position_offset = 0;          // position of the first token
  int64_t max_positions = 1024;         // rows of a learned position table; sinusoids have no end
  int64_t relative_buckets = 32;        // of distances; a head learns a number for each
  int64_t relative_max_distance = 128;  // from which on all distances are one bucket
  int64_t attention_window = 0;  // self-attention sees keys at most so far away; 0: all (section 4)
  bool attention_bias = false;   // biases on W^Q, W^K, W^V, W^O; the paper has none
  bool feed_forward_bias = true;
  bool scale_embedding = true;  // embeddings times sqrt(d_model), section 3.4
  bool embedding_norm = false;  // layer norm of the sum of embedding and position, as BERT's
  Recurrence recurrence = Recurrence::kNone;  // of a decoder, in place of self-attention
  int64_t kernel_width = 3;                   // tokens that a convolution sees
  bool separable = false;  // a convolution is of each column by itself, then one product

  int64_t key_width() const { return d_k > 0 ? d_k : d_model / heads; }
  int64_t value_width() const { return d_v > 0 ? d_v : d_model / heads; }
  bool operator==(const StackConfig&) const = default;
};

// What a joint encoder reads: items with a text, a picture and links to nodes of a graph, any of
// which may be missing. Its rows are a learned summary vector, then those of the text's encoder, of
// the picture's encoder and of the linked nodes, each brought to d_model by a matrix of its kind
// and a learned vector that tells the kind.
struct FusionInput {
  StackConfig text, picture;
  PatchInput patches;  // without a class token
  // Names of the graph's nodes, by row of their vectors; empty: items have no links.
  std::vector<std::string> nodes;
  // Width of the vectors that texts and pictures have in one space, made of the mean of their
  // encoder's rows; 0: they have none.
  int64_t shared_width = 0;

  bool operator==(const FusionInput&) const = default;
};

// Tokens that learned positions leave room for beside eos (or bos); the largest number where
// positions have no end.
int64_t MaxTokens(const StackConfig& stack);

// In place of a token's id: a vector of zeros, to which the position is still added.
inline constexpr int64_t kZeroVector = -1;

// Ids of special tokens, by default those that every vocabulary of attend gives them. A decoder
// starts from bos; without one from a vector of zeros, as Marian's.
struct SpecialIds {
  int64_t pad = 0;
  int64_t unk = 1;
  int64_t bos = 2;
  int64_t eos = 3;
  bool operator==(const SpecialIds&) const = default;
};

// What stands around the tokens of a text where a model reads it.
struct TextFrame {
  std::vector<int32_t> begin, end;

  int64_t size() const { return static_cast<int64_t>(begin.size() + end.size()); }
  std::vector<int32_t> Around(std::span<const int32_t> tokens) const;
};

// A model: an encoder, a decoder or both, and what stands on top.
struct ModelConfig {
  std::string task = "translation";
  Architecture architecture = Architecture::kTransformer;
  std::vector<std::string> languages;  // source, target; may be empty
  InputKind input = InputKind::kTokens;
  std::optional<PatchInput> patches;  // of an encoder that reads them in place of tokens
  std::optional<FrameInput> frames;   // of an encoder before a decoder, in place of tokens
  std::optional<FusionInput> fusion;  // of an encoder that joins the inputs of items
  int64_t source_vocab_size = 0;      // rows of the encoder's embedding
  int64_t target_vocab_size = 0;  // rows of the decoder's embedding and of the output projection
  SpecialIds special_ids;
  // What an encoder before a decoder reads beside the tokens of every source, and a decoder after
  // bos: BART's <s>, tags of the languages.
  bool source_eos = true;                         // OpenNMT-py's encoders read none
  std::vector<int64_t> source_begin, source_end;  // before the source, after its eos
  std::vector<int64_t> target_begin;              // after bos; no part of the output
  // Ids that no output has, and that it does not begin with: Whisper's, which stand for sounds or
  // for what it reads.
  std::vector<int64_t> suppress_tokens, begin_suppress_tokens;
  // A parser's targets are symbols (text/tree_symbols.h): labels of constituents, and words' tags.
  std::vector<std::string> constituents, tags;
  // The decoder's input at each step has the encoder's vector added of the word that comes next in
  // the output, by its first token; of the last id after all words.
  bool next_word_input = false;
  // Decoder layer, from 1, taught to look at what the token just read translates; 0: none was.
  int64_t alignment_layer = 0;
  std::optional<StackConfig> encoder = StackConfig{};
  std::optional<StackConfig> decoder = StackConfig{};
  HeadKind head = HeadKind::kVocabulary;
  bool head_bias = false;       // of the output projection; labels always have one
  bool head_transform = false;  // BERT's dense layer, activation and norm before the projection
  bool head_pooler = false;     // BERT's dense layer between a text's vector and its labels
  PoolerActivation pooler_activation = PoolerActivation::kTanh;
  Pooling pooling = Pooling::kTokens;
  std::vector<std::string> labels;  // names, by id
  LabelScheme label_scheme = LabelScheme::kNone;
  // A conditional random field: beside the scores of each word's labels there is a score for each
  // pair of labels that follow each other, for the first label and for the last.
  bool crf = false;
  bool tie_source_target =
      true;  // encoder and decoder share one embedding; needs equal vocabularies
  bool tie_target_output = true;  // the output projection is the last stack's embedding

  // The encoder has ids of a vocabulary to read.
  bool ReadsTokens() const { return input == InputKind::kTokens || input == InputKind::kItems; }
  // The stack that the head stands on. Precondition: there is one.
  const StackConfig& last_stack() const { return decoder ? *decoder : *encoder; }
  // The decoder layer, from 1, that alignments come from where nothing else is said. Precondition:
  // there is a decoder.
  int64_t AlignmentLayer() const { return alignment_layer > 0 ? alignment_layer : decoder->layers; }
  // Of a source. An empty one always has eos: an encoder reads one id at least.
  TextFrame SourceFrame(bool empty = false) const;
  // Of a target: bos and target_begin, which the decoder reads before it writes, and eos.
  TextFrame TargetFrame() const;
  // What the encoder reads of a source's tokens, and the tokens of what it reads: all of it where
  // the frame is not around it.
  std::vector<int32_t> EncoderIds(std::span<const int32_t> tokens) const;
  std::span<const int32_t> SourceTokens(std::span<const int32_t> ids) const;
  // The most tokens of a source and of a target that learned positions leave room for beside their
  // frames. Preconditions: there is an encoder, a decoder.
  int64_t MaxSourceTokens() const;
  int64_t MaxTargetTokens() const;
  // The most tokens of an output that may have `length`, eos included, which the positions allow;
  // at least 1.
  int64_t MaxOutput(int64_t length) const;
  // Logits of one row of the head; 0 without head.
  int64_t head_width() const {
    if (head == HeadKind::kNone) return 0;
    return head == HeadKind::kLabels ? static_cast<int64_t>(labels.size()) : target_vocab_size;
  }
  bool operator==(const ModelConfig&) const = default;
};

// base and big (the paper), tiny (4+4 layers, 128 wide, 4 heads, d_ff 256), student (6+2 layers,
// 256 wide, 8 heads, d_ff 1536); decoders alone: gpt-char, gpt2-small; encoders alone: bert-tiny
// (4 layers, 256 wide, 4 heads, d_ff 1024), bert-base; encoders of pictures: vit-tiny (6 layers, 96
// wide, 4 heads, d_ff 192, patches of 4 x 4 of 28 x 28 grey pixels), vit-base; of sound, with a
// decoder: speech-tiny (4+2 layers, 128 wide, 4 heads, d_ff 512), whisper-tiny (4+4 layers, 384
// wide, 6 heads, d_ff 1536, 30 seconds); of items: fusion-tiny (2+4+2 layers, 96 wide, 4 heads,
// d_ff 192, pictures of 96 x 96 pixels); other architectures: lstm (2+2 layers, 256 wide),
// convolution (4+3 layers, 256 wide). Throws Error(kConfiguration) for
// another name, naming the nearest.
ModelConfig PresetConfig(const std::string& name);

// The one that training starts from where none is named.
std::string PresetOf(Architecture architecture);

// lstm or gru.
bool IsRecurrent(Architecture architecture);
// As it is written in recipes and config.json.
std::string ArchitectureName(Architecture architecture);

// Throws Error(kConfiguration) naming the first field that makes no sense (heads that do not divide
// d_model, ties between embeddings of different size, no stack at all ...).
void CheckModelConfig(const ModelConfig& config);

}  // namespace attend

#endif  // ATTEND_MODEL_CONFIG_H_
