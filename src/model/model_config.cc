#include "attend/model_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "model/config_fields.h"
#include "model/relative_buckets.h"

namespace attend {
namespace {

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

void CheckStack(const StackConfig& config, const std::string& name, bool convolves = false) {
  if (config.separable && !convolves)
    Refuse(fmt::format("{}.separable is true, but it has no convolutions", name));
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

int64_t FrameInput::padded_samples() const {
  return std::llround(padded_seconds * static_cast<double>(rate));
}

int64_t FrameInput::FramesOf(int64_t samples) const {
  return samples == 0 ? 0 : std::max<int64_t>(1, samples / hop);
}

int64_t FrameInput::RowsOf(int64_t frames) const {
  // An odd kernel sees as many rows before its own as after it.
  for (const int64_t stride : strides) frames = (frames + stride - 1) / stride;
  return frames;
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
  CheckFrame("suppress_tokens", config.suppress_tokens, config.target_vocab_size, config);
  CheckFrame("begin_suppress_tokens", config.begin_suppress_tokens, config.target_vocab_size,
             config);
  if (!config.frames && !(config.suppress_tokens.empty() && config.begin_suppress_tokens.empty()))
    Refuse("suppress_tokens is given, but it is for a model that reads frames");
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
  return {"layers",          "d_model",         "kernel_width",
          "separable",       "positions",       "position_convention",
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

// What a stack of pictures reads; `names` of the two, for messages.
void CheckPatches(const PatchInput& patches, const StackConfig& stack,
                  const std::pair<std::string, std::string>& names) {
  const auto& [name, of_stack] = names;
  if (patches.channels == 2) Refuse(fmt::format("{}.channels is 2, expected 1 or 3", name));
  for (const auto& [which, side] :
       {std::pair{"height", patches.height}, std::pair{"width", patches.width}}) {
    if (side % patches.patch == 0) continue;
    Refuse(fmt::format("{0}.{1} is {2}, expected a multiple of {0}.patch ({3})", name, which, side,
                       patches.patch));
  }
  for (const auto& [which, numbers] :
       {std::pair{"mean", &patches.mean}, std::pair{"deviation", &patches.deviation}}) {
    const auto count = std::ssize(*numbers);
    if (count == 1 || count == patches.channels) continue;
    Refuse(fmt::format("{}.{} has {} numbers, expected 1 or one for each of {} channels", name,
                       which, count, patches.channels));
  }
  if (stack.positions == PositionKind::kLearned &&
      stack.max_positions - stack.position_offset != patches.rows()) {
    Refuse(fmt::format("{}.max_positions is {}, expected {}: the patches of a picture{}", of_stack,
                       stack.max_positions, patches.rows() + stack.position_offset,
                       patches.class_token ? " and the class token" : ""));
  }
}

void CheckPatches(const ModelConfig& config) {
  if ((config.input == InputKind::kPatches) != config.patches.has_value())
    Refuse("patches and input contradict each other, expected patches where input is patches");
  if (!config.patches) return;
  const PatchInput& patches = *config.patches;
  if (!config.encoder || config.decoder)
    Refuse("input is patches, expected tokens: patches are for an encoder alone");
  if (config.head == HeadKind::kVocabulary)
    Refuse("head is vocabulary, expected labels or none: an encoder of patches has no vocabulary");
  CheckPatches(patches, *config.encoder, {"patches", "encoder"});
  if (config.pooling == Pooling::kFirst && !patches.class_token)
    Refuse("pooling is first, expected mean: patches.class_token is off");
}

void CheckSpectrum(const FrameInput& frames) {
  if (frames.fft % 2 != 0)
    Refuse(fmt::format("frames.fft is {}, expected an even number", frames.fft));
  const double half = static_cast<double>(frames.rate) / 2;
  const double high = frames.high > 0 ? frames.high : half;
  if (high > half) {
    Refuse(fmt::format("frames.high is {}, expected at most half of frames.rate ({})", frames.high,
                       half));
  }
  if (frames.low >= high)
    Refuse(fmt::format("frames.low is {}, expected less than where the bands end, {}", frames.low,
                       high));
}

void CheckFrameInput(const ModelConfig& config) {
  constexpr size_t kMostConvolutions = 8;
  if ((config.input == InputKind::kFrames) != config.frames.has_value())
    Refuse("frames and input contradict each other, expected frames where input is frames");
  if (!config.frames) return;
  const FrameInput& frames = *config.frames;
  if (!config.encoder || !config.decoder)
    Refuse("input is frames, expected tokens: frames are for an encoder with a decoder");
  if (config.source_vocab_size != 0) {
    Refuse(
        fmt::format("source_vocab_size is {}, expected 0: an encoder of frames has no "
                    "vocabulary",
                    config.source_vocab_size));
  }
  if (config.tie_source_target)
    Refuse("tie_source_target is on, expected off: an encoder of frames has no embedding");
  CheckSpectrum(frames);
  if (frames.kernels.size() != frames.strides.size() || frames.kernels.empty() ||
      frames.kernels.size() > kMostConvolutions) {
    Refuse(
        fmt::format("frames.kernels has {} numbers and frames.strides {}, expected one of each "
                    "for every convolution, and 1 to {} of these",
                    frames.kernels.size(), frames.strides.size(), kMostConvolutions));
  }
  for (const int64_t kernel : frames.kernels)
    if (kernel % 2 == 0) Refuse(fmt::format("frames.kernels has {}, expected odd numbers", kernel));
  constexpr int64_t kMostPadded = int64_t{1} << 26;  // samples, and numbers of their frames
  const int64_t padded = frames.padded_samples(), rows = frames.RowsOf(frames.FramesOf(padded));
  if (std::max(padded, frames.FramesOf(padded) * frames.mels) > kMostPadded) {
    Refuse(fmt::format(
        "frames.padded_seconds is {}, expected less: it makes {} samples and {} "
        "numbers of frames, more than {}",
        frames.padded_seconds, padded, frames.FramesOf(padded) * frames.mels, kMostPadded));
  }
  const StackConfig& stack = *config.encoder;
  if (stack.positions == PositionKind::kLearned &&
      stack.max_positions - stack.position_offset < std::max<int64_t>(rows, 1)) {
    Refuse(fmt::format("encoder.max_positions is {}, expected at least {}, the rows of a recording",
                       stack.max_positions, std::max<int64_t>(rows, 1) + stack.position_offset));
  }
}

// A stack below the joint encoder, which starts from rows of its own.
void CheckFusedStack(const StackConfig& stack, const std::string& name) {
  CheckStack(stack, name);
  if (stack.positions == PositionKind::kRelative)
    Refuse(fmt::format("{}.positions is relative, expected another kind", name));
  if (stack.recurrence != Recurrence::kNone)
    Refuse(fmt::format("{}.recurrence is ssru, expected none: it is for decoders", name));
}

void CheckFusion(const ModelConfig& config) {
  if ((config.input == InputKind::kItems) != config.fusion.has_value())
    Refuse("fusion and input contradict each other, expected fusion where input is items");
  if (!config.fusion) return;
  const FusionInput& fusion = *config.fusion;
  if (!config.encoder || config.decoder)
    Refuse("input is items, expected tokens: items are for an encoder alone");
  if (config.head == HeadKind::kVocabulary)
    Refuse("head is vocabulary, expected labels: a joint encoder has no vocabulary");
  if (config.pooling != Pooling::kFirst)
    Refuse("pooling is not first, but the first row of an item is its summary");
  if (config.encoder->positions != PositionKind::kNone)
    Refuse("encoder.positions is given, expected none: the rows of an item have no order");
  CheckFusedStack(fusion.text, "fusion.text");
  CheckFusedStack(fusion.picture, "fusion.picture");
  CheckPatches(fusion.patches, fusion.picture, {"fusion.patches", "fusion.picture"});
  if (fusion.patches.class_token)
    Refuse("fusion.patches.class_token is on, expected off: the summary stands for an item");
  if (fusion.picture.positions == PositionKind::kSinusoidal)
    Refuse("fusion.picture.positions is sinusoidal, expected learned or none");
  std::vector<std::string> nodes = fusion.nodes;
  std::ranges::sort(nodes);
  if (const auto twice = std::ranges::adjacent_find(nodes); twice != nodes.end())
    Refuse(fmt::format("fusion.nodes has '{}' twice, expected names that differ", Excerpt(*twice)));
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
  const bool convolves = config.architecture == Architecture::kConvolution;
  if (config.encoder) CheckStack(*config.encoder, "encoder", convolves);
  if (config.encoder && config.encoder->recurrence != Recurrence::kNone)
    Refuse("encoder.recurrence is ssru, expected none: it is for decoders");
  if (config.decoder) CheckStack(*config.decoder, "decoder", convolves);
  const bool reads_tokens = config.encoder && config.ReadsTokens();
  if (reads_tokens && config.source_vocab_size < 1)
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
  CheckPatches(config);
  CheckFrameInput(config);
  CheckFusion(config);
  for (const int64_t id : {config.special_ids.pad, config.special_ids.unk, config.special_ids.bos,
                           config.special_ids.eos}) {
    if ((reads_tokens && id >= config.source_vocab_size) ||
        (config.decoder && id >= config.target_vocab_size)) {
      Refuse(fmt::format("special id {} is not in the vocabulary", id));
    }
  }
}

}  // namespace attend
