#include "model/config_fields.h"

namespace attend {
namespace {

constexpr double kMaxWidth = 1 << 20;
constexpr double kMaxLayers = 1000;
constexpr double kMaxPositions = 1 << 24;
constexpr double kMaxVocabulary = 1 << 24;
constexpr double kMaxKernelWidth = 1023;
constexpr double kMaxPictureSide = 4096;
constexpr double kMaxDeviation = 1e6;
constexpr double kMaxRate = 1e6;

}  // namespace

FieldList Fields(StackConfig& config) {
  FieldList fields;
  fields.Add("layers", &config.layers, 1, kMaxLayers, "number of layers (the paper's N)")
      .Add("d_model", &config.d_model, 1, kMaxWidth, "width of the residual stream")
      .Add("heads", &config.heads, 1, kMaxWidth, "attention heads (the paper's h)")
      .Add("d_k", &config.d_k, 0, kMaxWidth,
           "width of a head's queries and keys; 0: d_model / heads")
      .Add("d_v", &config.d_v, 0, kMaxWidth, "width of a head's values; 0: d_model / heads")
      .Add("d_ff", &config.d_ff, 1, kMaxWidth, "width inside the feed-forward layer")
      .Add("activation", &config.activation,
           {"relu", "gelu", "swiglu", "gelu_tanh", "silu", "geglu_tanh"},
           "activation of the feed-forward layer")
      .Add("norm", &config.norm, {"layer_norm", "rms_norm"}, "kind of normalisation")
      .Add("norm_place", &config.norm_place, {"post", "pre"},
           "post: after the residual sum (the paper); pre: before the sub-layer")
      .Add("norm_epsilon", &config.norm_epsilon, 1e-12, 1, "added to the variance in normalisation")
      .Add("positions", &config.positions, {"sinusoidal", "learned", "none", "relative"},
           "how positions are told apart; relative: by distances, as T5's")
      .Add("position_convention", &config.position_convention,
           {"interleaved", "halves", "timing_signal"}, "order of the sinusoids' columns")
      .Add("position_offset", &config.position_offset, 0, kMaxPositions,
           "position of the first token")
      .Add("max_positions", &config.max_positions, 1, kMaxPositions,
           "rows of a learned position table")
      .Add("relative_buckets", &config.relative_buckets, 2, kMaxPositions,
           "buckets of distances, of relative positions")
      .Add("relative_max_distance", &config.relative_max_distance, 2, kMaxPositions,
           "distance from which on all are in one bucket, of relative positions")
      .Add("attention_window", &config.attention_window, 0, kMaxPositions,
           "self-attention sees keys at most so many positions away, on both sides, or before the "
           "query in a decoder; 0: all (the paper's section 4 restricts it to r)")
      .Add("attention_bias", &config.attention_bias, "biases on the attention projections")
      .Add("feed_forward_bias", &config.feed_forward_bias, "biases in the feed-forward layer")
      .Add("scale_embedding", &config.scale_embedding,
           "embeddings times the square root of d_model")
      .Add("embedding_norm", &config.embedding_norm,
           "layer norm of the sum of embedding and position, as BERT's")
      .Add("recurrence", &config.recurrence, {"none", "ssru"},
           "what a decoder has in place of self-attention; ssru: a simpler simple recurrent unit")
      .Add("kernel_width", &config.kernel_width, 1, kMaxKernelWidth,
           "tokens that a convolution sees, of architecture convolution")
      .Add("separable", &config.separable,
           "convolutions are of each column by itself, followed by one product (Chollet 2017), of "
           "architecture convolution");
  return fields;
}

FieldList Fields(SpecialIds& ids) {
  FieldList fields;
  fields.Add("pad", &ids.pad, -1, kMaxVocabulary, "id of padding; -1: none")
      .Add("unk", &ids.unk, -1, kMaxVocabulary, "id of an unknown piece; -1: none")
      .Add("bos", &ids.bos, -1, kMaxVocabulary,
           "id that starts a target; -1: none, a decoder starts from a vector of zeros")
      .Add("eos", &ids.eos, 0, kMaxVocabulary, "id that ends a sentence");
  return fields;
}

FieldList Fields(PatchInput& patches) {
  FieldList fields;
  fields.Add("height", &patches.height, 1, kMaxPictureSide, "height of a picture in pixels")
      .Add("width", &patches.width, 1, kMaxPictureSide, "width of a picture in pixels")
      .Add("channels", &patches.channels, 1, 3, "1: grey pixels; 3: red, green and blue")
      .Add("patch", &patches.patch, 1, kMaxPictureSide, "side of a patch in pixels")
      .Add("class_token", &patches.class_token, "a learned vector before those of the patches")
      .Add("fit", &patches.fit, {"stretch", "crop"},
           "how a picture of another size is brought to this one: each side by itself, or the "
           "shorter side and then the middle of the longer one")
      .Add("resampling", &patches.resampling, {"bilinear", "bicubic"},
           "filter that makes pixels of another size")
      .Add("mean", &patches.mean, 0, 1,
           "mean of pixels from 0 to 1, which is subtracted: one number for each channel, or one")
      .Add("deviation", &patches.deviation, 1e-6, kMaxDeviation,
           "standard deviation of pixels, by which they are divided");
  return fields;
}

FieldList Fields(FrameInput& frames) {
  FieldList fields;
  fields.Add("rate", &frames.rate, 100, kMaxRate, "samples a second of the sound that is read")
      .Add("fft", &frames.fft, 2, 1 << 16, "samples that one frame sees")
      .Add("hop", &frames.hop, 1, 1 << 16, "samples from one frame to the next")
      .Add("mels", &frames.mels, 1, 1024, "bands of frequencies in a frame")
      .Add("low", &frames.low, 0, kMaxRate, "frequency in Hz where the lowest band begins")
      .Add("high", &frames.high, 0, kMaxRate,
           "frequency in Hz where the highest band ends; 0: half the rate")
      .Add("scale", &frames.scale, {"whisper", "recording", "bands"},
           "how frames are scaled: as Whisper's, or to mean 0 and deviation 1 over a recording, or "
           "over each band of it")
      .Add("kernels", &frames.kernels, 1, 63, "frames that each convolution over time sees")
      .Add("strides", &frames.strides, 1, 64,
           "every so many frames a convolution gives a vector: by this it shortens")
      .Add("padded_seconds", &frames.padded_seconds, 0, 3600,
           "silence fills recordings up to so many seconds, and longer ones are refused; 0: "
           "recordings are as long as they are")
      .Add("longest_seconds", &frames.longest_seconds, 0, 1e6,
           "seconds of the longest recording of training; longer ones are cut at silence; 0: not "
           "known",
           kDerived);
  return fields;
}

FieldList Fields(FusionInput& fusion) {
  FieldList fields;
  fields.Nest("text", Fields(fusion.text))
      .Nest("picture", Fields(fusion.picture))
      .Nest("patches", Fields(fusion.patches))
      .Add("nodes", &fusion.nodes, "names of the graph's nodes", kDerived)
      .Add("shared_width", &fusion.shared_width, 0, 4096,
           "width of the vectors by which texts find pictures and pictures texts, for "
           "contrastive_weight; 0: there are none");
  return fields;
}

FieldList Fields(ModelConfig& config) {
  FieldList fields;
  fields.Add("task", &config.task, "what the model does, such as translation", kDerived)
      .Add("architecture", &config.architecture, {"transformer", "lstm", "gru", "convolution"},
           "what the stacks are made of; lstm, gru and convolution are what the paper compares the "
           "transformer with: they are trained and run through LibTorch",
           kIdentity)
      .Add("languages", &config.languages, "two languages, the source first")
      .Add("input", &config.input, {"tokens", "patches", "frames", "items"},
           "what the first stack reads", kDerived)
      .Add("source_vocab_size", &config.source_vocab_size, 0, kMaxVocabulary,
           "rows of the encoder's embedding", kDerived)
      .Add("target_vocab_size", &config.target_vocab_size, 0, kMaxVocabulary,
           "rows of the decoder's embedding", kDerived)
      .Nest("special_ids", Fields(config.special_ids), kDerived)
      .Add("source_eos", &config.source_eos, "the encoder reads eos after a source", kDerived)
      .Add("source_begin", &config.source_begin, 0, kMaxVocabulary,
           "ids that the encoder reads before a source", kDerived)
      .Add("source_end", &config.source_end, 0, kMaxVocabulary,
           "ids that the encoder reads after a source and its eos", kDerived)
      .Add("target_begin", &config.target_begin, 0, kMaxVocabulary,
           "ids that the decoder reads after bos, before what it writes", kDerived)
      .Add("suppress_tokens", &config.suppress_tokens, 0, kMaxVocabulary, "ids that no output has",
           kDerived)
      .Add("begin_suppress_tokens", &config.begin_suppress_tokens, 0, kMaxVocabulary,
           "ids that no output begins with", kDerived)
      .Add("constituents", &config.constituents, "labels of a parser's constituents", kDerived)
      .Add("tags", &config.tags, "tags of a parser's words", kDerived)
      .Add("next_word_input", &config.next_word_input,
           "the decoder's input has the encoder's vector of the next word added", kDerived)
      .Add("alignment_layer", &config.alignment_layer, 0, kMaxLayers,
           "decoder layer whose cross-attention learned word alignments, from 1; 0: none",
           kDerived);
  if (config.patches) fields.Nest("patches", Fields(*config.patches), kIdentity);
  if (config.frames) fields.Nest("frames", Fields(*config.frames), kIdentity);
  if (config.fusion) fields.Nest("fusion", Fields(*config.fusion), kIdentity);
  if (config.encoder) fields.Nest("encoder", Fields(*config.encoder), kIdentity);
  if (config.decoder) fields.Nest("decoder", Fields(*config.decoder), kIdentity);
  fields.Nest("", HeadFields(config))
      .Add("tie_source_target", &config.tie_source_target,
           "encoder and decoder share one embedding", kIdentity)
      .Add("tie_target_output", &config.tie_target_output,
           "the output projection is the last stack's embedding", kIdentity);
  return fields;
}

std::string ArchitectureName(Architecture architecture) {
  ModelConfig config;
  config.architecture = architecture;
  return Fields(config).Find("architecture")->ValueText();
}

FieldList HeadFields(ModelConfig& config) {
  FieldList fields;
  fields
      .Add("head", &config.head, {"none", "vocabulary", "labels"}, "what stands on the last stack",
           kDerived)
      .Add("head_bias", &config.head_bias, "bias of the output projection", kIdentity)
      .Add("head_transform", &config.head_transform,
           "a dense layer, activation and norm before the output projection, as BERT's", kDerived)
      .Add("head_pooler", &config.head_pooler,
           "a dense layer between a text's vector and its labels, as BERT's", kDerived)
      .Add("pooler_activation", &config.pooler_activation, {"tanh", "relu"},
           "activation of that layer: tanh is BERT's, relu DistilBERT's", kDerived)
      .Add("pooling", &config.pooling, {"tokens", "first", "mean"},
           "what is labelled: every token, or the text by its first token or by their mean",
           kDerived)
      .Add("labels", &config.labels, "names of the labels", kDerived)
      .Add("label_scheme", &config.label_scheme, {"iob1", "iob2", "iobes", "none", "iob"},
           "how labels spell entities", kDerived)
      .Add("crf", &config.crf,
           "scores of labels that follow each other (a conditional random field)", kDerived);
  return fields;
}

void TakeParts(const Json& model, ModelConfig* config) {
  const auto has = [&](const char* part) {
    return model.contains(part) && !model.at(part).is_null();
  };
  if (!has("encoder")) config->encoder.reset();
  if (!has("decoder")) config->decoder.reset();
  if (has("patches")) config->patches.emplace();
  if (has("frames")) config->frames.emplace();
  if (has("fusion")) config->fusion.emplace();
}

void TakeHead(ModelConfig from, ModelConfig* to) {
  FieldsFromJson(FieldsToJson(HeadFields(from)), HeadFields(*to), "head");
  to->tie_target_output = from.tie_target_output;
}

}  // namespace attend
