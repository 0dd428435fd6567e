#include "attend/model_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "model/config_fields.h"
#include "model/relative_buckets.h"

namespace attend {
namespace {

constexpr double kMaxWidth = 1 << 20;
constexpr double kMaxLayers = 1000;
constexpr double kMaxPositions = 1 << 24;
constexpr double kMaxVocabulary = 1 << 24;
constexpr double kMaxKernelWidth = 1023;

[[noreturn]] void Refuse(const std::string& message) {
  throw Error(ErrorKind::kConfiguration, message);
}

void CheckRelativePositions(const StackConfig& config, const std::string& name) {
  const bool both_ways = name == "encoder";
  const int64_t exact = RelativeBuckets(config, both_ways).exact();
  if (exact < 1) {
    Refuse(fmt::format("{}.relative_buckets is {}, expected at least {}", name,
                       config.relative_buckets, both_ways ? 4 : 2));
  }
  if (config.relative_max_distance <= exact) {
    Refuse(fmt::format(
        "{0}.relative_max_distance is {1}, expected more than the {2} distances that have a bucket "
        "each of {0}.relative_buckets",
        name, config.relative_max_distance, exact));
  }
  if (config.recurrence != Recurrence::kNone) {
    Refuse(fmt::format("{}.positions is relative, expected another kind: a recurrence has none",
                       name));
  }
}

void CheckStack(const StackConfig& config, const std::string& name) {
  if ((config.d_k == 0 || config.d_v == 0) && config.d_model % config.heads != 0) {
    Refuse(fmt::format(
        "{0}.heads is {1}, expected a divisor of {0}.d_model ({2}), or set {0}.d_k and {0}.d_v",
        name, config.heads, config.d_model));
  }
  if (config.positions == PositionKind::kSinusoidal && config.d_model % 2 != 0) {
    Refuse(fmt::format("{}.d_model is {}, expected an even number for sinusoidal positions", name,
                       config.d_model));
  }
  if (config.positions == PositionKind::kSinusoidal && config.d_model < 4 &&
      config.position_convention == SinusoidConvention::kTimingSignal) {
    Refuse(fmt::format("{}.d_model is {}, expected at least 4 for a timing signal", name,
                       config.d_model));
  }
  if (config.positions == PositionKind::kRelative) CheckRelativePositions(config, name);
  if (config.attention_window > 0 && config.recurrence != Recurrence::kNone) {
    Refuse(fmt::format("{}.attention_window is {}, expected 0: a recurrence has no attention", name,
                       config.attention_window));
  }
}

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
           "tokens that a convolution sees, of architecture convolution");
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

FieldList Fields(ModelConfig& config) {
  FieldList fields;
  fields.Add("task", &config.task, "what the model does, such as translation", kDerived)
      .Add("architecture", &config.architecture, {"transformer", "lstm", "gru", "convolution"},
           "what the stacks are made of; lstm, gru and convolution are what the paper compares the "
           "transformer with: they are trained and run through LibTorch",
           kIdentity)
      .Add("languages", &config.languages, "two languages, the source first")
      .Add("input", &config.input, {"tokens"}, "what the first stack reads", kDerived)
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
      .Add("constituents", &config.constituents, "labels of a parser's constituents", kDerived)
      .Add("tags", &config.tags, "tags of a parser's words", kDerived)
      .Add("next_word_input", &config.next_word_input,
           "the decoder's input has the encoder's vector of the next word added", kDerived)
      .Add("alignment_layer", &config.alignment_layer, 0, kMaxLayers,
           "decoder layer whose cross-attention learned word alignments, from 1; 0: none",
           kDerived);
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

void TakeHead(ModelConfig from, ModelConfig* to) {
  FieldsFromJson(FieldsToJson(HeadFields(from)), HeadFields(*to), "head");
  to->tie_target_output = from.tie_target_output;
}

bool IsRecurrent(Architecture architecture) {
  return architecture == Architecture::kLstm || architecture == Architecture::kGru;
}

namespace {

constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();

// Room for tokens, beside so many ids.
int64_t RoomBeside(int64_t tokens, size_t ids) {
  return tokens == kNoEnd ? kNoEnd : std::max<int64_t>(tokens - static_cast<int64_t>(ids), 0);
}

}  // namespace

int64_t MaxTokens(const StackConfig& stack) {
  if (stack.positions != PositionKind::kLearned) return kNoEnd;
  return std::max<int64_t>(stack.max_positions - stack.position_offset - 1, 0);
}

std::vector<int32_t> TextFrame::Around(std::span<const int32_t> tokens) const {
  std::vector<int32_t> ids = begin;
  ids.insert(ids.end(), tokens.begin(), tokens.end());
  ids.insert(ids.end(), end.begin(), end.end());
  return ids;
}

TextFrame ModelConfig::SourceFrame(bool empty) const {
  TextFrame frame{{source_begin.begin(), source_begin.end()}, {}};
  if (source_eos || empty) frame.end.push_back(static_cast<int32_t>(special_ids.eos));
  frame.end.insert(frame.end.end(), source_end.begin(), source_end.end());
  return frame;
}

TextFrame ModelConfig::TargetFrame() const {
  TextFrame frame{{static_cast<int32_t>(special_ids.bos)}, {static_cast<int32_t>(special_ids.eos)}};
  frame.begin.insert(frame.begin.end(), target_begin.begin(), target_begin.end());
  return frame;
}

std::vector<int32_t> ModelConfig::EncoderIds(std::span<const int32_t> tokens) const {
  return SourceFrame(tokens.empty()).Around(tokens);
}

std::span<const int32_t> ModelConfig::SourceTokens(std::span<const int32_t> ids) const {
  for (const bool empty : {true, false}) {
    const TextFrame frame = SourceFrame(empty);
    if (std::ssize(ids) < frame.size() || empty != (std::ssize(ids) == frame.size())) continue;
    const auto tokens = ids.subspan(frame.begin.size(), ids.size() - frame.size());
    if (std::ranges::equal(frame.Around(tokens), ids)) return tokens;
  }
  return ids;
}

int64_t ModelConfig::MaxSourceTokens() const {
  return RoomBeside(MaxTokens(*encoder), source_begin.size() + source_end.size());
}

int64_t ModelConfig::MaxTargetTokens() const {
  return RoomBeside(MaxTokens(*decoder), target_begin.size());
}

int64_t ModelConfig::MaxOutput(int64_t length) const {
  // Adding to the most tokens, which may be the largest number, would overflow.
  return std::clamp<int64_t>(length - 1, 0, MaxTargetTokens()) + 1;
}

namespace {

// Of ids that stand around every text of one side, given to a vocabulary of this size.
void CheckFrame(const std::string& name, const std::vector<int64_t>& ids, int64_t vocabulary,
                const ModelConfig& config) {
  if (ids.empty()) return;
  if (!config.encoder || !config.decoder)
    Refuse(fmt::format("{} is given, but it is for an encoder with a decoder", name));
  for (const int64_t id : ids) {
    if (id < 0 || id >= vocabulary) {
      Refuse(fmt::format("{} has the id {}, expected ids below the vocabulary's size, {}", name, id,
                         vocabulary));
    }
  }
}

void CheckFrames(const ModelConfig& config) {
  CheckFrame("source_begin", config.source_begin, config.source_vocab_size, config);
  CheckFrame("source_end", config.source_end, config.source_vocab_size, config);
  CheckFrame("target_begin", config.target_begin, config.target_vocab_size, config);
  const auto has_room = [](const StackConfig& stack, size_t beside) {
    return static_cast<int64_t>(beside) <= MaxTokens(stack);
  };
  if (config.encoder &&
      !has_room(*config.encoder, config.source_begin.size() + config.source_end.size()))
    Refuse("encoder.max_positions has no room for source_begin and source_end");
  if (config.decoder && !has_room(*config.decoder, config.target_begin.size()))
    Refuse("decoder.max_positions has no room for target_begin");
}

// The names of a stack's options that mean something to an architecture other than the Transformer.
std::vector<std::string> OptionsOf(Architecture architecture) {
  if (IsRecurrent(architecture))
    return {"layers", "d_model", "heads", "attention_bias", "scale_embedding"};
  return {"layers",          "d_model",         "kernel_width", "positions", "position_convention",
          "position_offset", "scale_embedding", "max_positions"};
}

// Options that an architecture has not are as its preset has them.
void CheckOtherOptions(StackConfig stack, const std::string& name, Architecture architecture) {
  const std::string of = ArchitectureName(architecture);
  StackConfig plain = *PresetConfig(PresetOf(architecture)).encoder;
  const std::vector<std::string> own = OptionsOf(architecture);
  const FieldList found = Fields(stack), expected = Fields(plain);
  for (const Field& field : found.fields()) {
    const std::string wanted = expected.Find(field.name)->ValueText();
    if (std::ranges::find(own, field.name) != own.end() || field.ValueText() == wanted) continue;
    Refuse(
        fmt::format("{0}.{1} is {2}, expected {3}: architecture {4} has no use for it; leave "
                    "it out, or start from preset {5}",
                    name, field.name, field.ValueText(), wanted, of, PresetOf(architecture)));
  }
}

void CheckArchitecture(const ModelConfig& config) {
  if (config.architecture == Architecture::kTransformer) return;
  const std::string name = ArchitectureName(config.architecture);
  if (!config.encoder || !config.decoder) {
    Refuse(
        fmt::format("architecture is {}, expected transformer: only an encoder with a decoder "
                    "has another",
                    name));
  }
  if (config.task != "translation") {
    Refuse(fmt::format("architecture is {}, expected transformer: {} has no other", name,
                       config.task));
  }
  CheckOtherOptions(*config.encoder, "encoder", config.architecture);
  CheckOtherOptions(*config.decoder, "decoder", config.architecture);
  if (IsRecurrent(config.architecture) && config.encoder->d_model % 2 != 0) {
    Refuse(
        fmt::format("encoder.d_model is {}, expected an even number: the first layer of {} "
                    "reads both ways, each of half the width",
                    config.encoder->d_model, name));
  }
  if (IsRecurrent(config.architecture) && config.decoder->layers < 2) {
    Refuse(
        fmt::format("decoder.layers is 1, expected at least 2: of {} the second layer is the "
                    "first to read what attention found",
                    name));
  }
  for (const StackConfig* stack : {&*config.encoder, &*config.decoder}) {
    if (stack->positions != PositionKind::kRelative) continue;
    Refuse(fmt::format("positions is relative, expected another kind: {} has no self-attention",
                       name));
  }
  if (config.architecture == Architecture::kConvolution && config.encoder->kernel_width % 2 == 0) {
    Refuse(
        fmt::format("encoder.kernel_width is {}, expected an odd number: a token stands in the "
                    "middle of what its convolution sees",
                    config.encoder->kernel_width));
  }
}

void CheckHead(const ModelConfig& config) {
  const bool labels = config.head == HeadKind::kLabels;
  if (labels && config.decoder) Refuse("head is labels, expected vocabulary: there is a decoder");
  if (labels && config.labels.empty()) Refuse("labels is empty, expected the names of the labels");
  std::vector<std::string> sorted = config.labels;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    Refuse(fmt::format("labels has '{}' twice, expected names that differ", Excerpt(*twice)));
  if (!labels && !config.labels.empty()) Refuse("labels is given, but head is not labels");
  if (config.head_pooler && (!labels || config.pooling == Pooling::kTokens))
    Refuse("head_pooler is on, but it is for labels of whole texts");
  if (config.pooler_activation != PoolerActivation::kTanh && !config.head_pooler)
    Refuse("pooler_activation is relu, expected tanh: head_pooler is off");
  if (config.crf && (!labels || config.pooling != Pooling::kTokens))
    Refuse("crf is on, but it is for labels of words");
  if (config.head_transform && (config.decoder || config.head != HeadKind::kVocabulary))
    Refuse("head_transform is on, but it is for an encoder with a head of vocabulary");
  if (config.head_transform && IsGated(config.encoder->activation))
    Refuse("head_transform is on, expected an activation without a gate, such as gelu");
  if (config.head == HeadKind::kVocabulary && !config.decoder &&
      config.source_vocab_size != config.target_vocab_size) {
    Refuse(
        fmt::format("an encoder's head needs one vocabulary, but source_vocab_size is {} and "
                    "target_vocab_size {}",
                    config.source_vocab_size, config.target_vocab_size));
  }
}

// Names that stand in brackets.
void CheckTreeLabels(const std::string& key, std::vector<std::string> names) {
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end())
    Refuse(fmt::format("{} has '{}' twice, expected names that differ", key, Excerpt(*twice)));
  for (const std::string& name : names) {
    if (!name.empty() && name.find_first_of(" \t\n\v\f\r()") == name.npos) continue;
    Refuse(
        fmt::format("{} has '{}', expected names without brackets and blanks", key, Excerpt(name)));
  }
}

void CheckTrees(const ModelConfig& config) {
  if (config.constituents.empty() && config.tags.empty()) {
    if (config.next_word_input)
      Refuse("next_word_input is on, but it is for a parser, which has constituents and tags");
    return;
  }
  if (config.constituents.empty() || config.tags.empty()) {
    Refuse(fmt::format("{} is empty, expected labels: a parser has constituents and tags",
                       config.constituents.empty() ? "constituents" : "tags"));
  }
  CheckTreeLabels("constituents", config.constituents);
  CheckTreeLabels("tags", config.tags);
  if (!config.encoder || !config.decoder)
    Refuse("constituents is given, but it is for an encoder with a decoder");
  if (config.tie_source_target)
    Refuse("tie_source_target is on, expected off: a parser writes symbols and reads words");
  const auto symbols = static_cast<int64_t>(2 * config.constituents.size() + config.tags.size());
  if (config.target_vocab_size <= symbols) {
    Refuse(
        fmt::format("target_vocab_size is {}, expected more than the {} symbols of constituents "
                    "and tags",
                    config.target_vocab_size, symbols));
  }
}

void CheckAlignment(const ModelConfig& config) {
  const int64_t layers = config.encoder && config.decoder ? config.decoder->layers : 0;
  if (config.alignment_layer <= layers) return;
  Refuse(
      fmt::format("alignment_layer is {}, expected at most {}, the decoder's layers with "
                  "cross-attention",
                  config.alignment_layer, layers));
}

}  // namespace

void CheckModelConfig(const ModelConfig& config) {
  if (!config.encoder && !config.decoder) Refuse("the model has neither encoder nor decoder");
  if (config.encoder) CheckStack(*config.encoder, "encoder");
  if (config.encoder && config.encoder->recurrence != Recurrence::kNone)
    Refuse("encoder.recurrence is ssru, expected none: it is for decoders");
  if (config.decoder) CheckStack(*config.decoder, "decoder");
  if (config.encoder && config.source_vocab_size < 1)
    Refuse("source_vocab_size is 0, expected at least 1");
  if (config.decoder && config.target_vocab_size < 1)
    Refuse("target_vocab_size is 0, expected at least 1");
  if (config.encoder && config.decoder) {
    if (config.encoder->d_model != config.decoder->d_model) {
      Refuse(fmt::format("decoder.d_model is {}, expected encoder.d_model ({})",
                         config.decoder->d_model, config.encoder->d_model));
    }
    if (config.tie_source_target && config.source_vocab_size != config.target_vocab_size) {
      Refuse(
          fmt::format("tie_source_target needs one vocabulary, but source_vocab_size is {} and "
                      "target_vocab_size {}",
                      config.source_vocab_size, config.target_vocab_size));
    }
  }
  CheckArchitecture(config);
  CheckHead(config);
  if (!config.source_eos && !(config.encoder && config.decoder))
    Refuse("source_eos is off, but it is for an encoder with a decoder");
  CheckFrames(config);
  CheckTrees(config);
  CheckAlignment(config);
  for (const int64_t id : {config.special_ids.pad, config.special_ids.unk, config.special_ids.bos,
                           config.special_ids.eos}) {
    if ((config.encoder && id >= config.source_vocab_size) ||
        (config.decoder && id >= config.target_vocab_size)) {
      Refuse(fmt::format("special id {} is not in the vocabulary", id));
    }
  }
}

}  // namespace attend
