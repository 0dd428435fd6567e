#include "model/tensor_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "attend/error.h"
#include "base/edit_distance.h"

namespace attend {
namespace {

void AddLinear(std::vector<TensorSpec>* specs, const std::string& name, int64_t out, int64_t in,
               bool bias) {
  specs->push_back({name + ".weight", {out, in}});
  if (bias) specs->push_back({name + ".bias", {out}});
}

void AddNorm(std::vector<TensorSpec>* specs, const std::string& name, const StackConfig& config) {
  specs->push_back({name + ".weight", {config.d_model}});
  if (config.norm == NormKind::kLayerNorm) specs->push_back({name + ".bias", {config.d_model}});
}

void AddAttention(std::vector<TensorSpec>* specs, const std::string& name,
                  const StackConfig& config) {
  const int64_t keys = config.heads * config.key_width(),
                values = config.heads * config.value_width();
  AddLinear(specs, name + ".query", keys, config.d_model, config.attention_bias);
  AddLinear(specs, name + ".key", keys, config.d_model, config.attention_bias);
  AddLinear(specs, name + ".value", values, config.d_model, config.attention_bias);
  AddLinear(specs, name + ".output", config.d_model, values, config.attention_bias);
  AddNorm(specs, name + "_norm", config);
}

void AddFeedForward(std::vector<TensorSpec>* specs, const std::string& name,
                    const StackConfig& config) {
  AddLinear(specs, name + ".inner", config.d_ff, config.d_model, config.feed_forward_bias);
  if (IsGated(config.activation)) {
    AddLinear(specs, name + ".gate", config.d_ff, config.d_model, config.feed_forward_bias);
  }
  AddLinear(specs, name + ".outer", config.d_model, config.d_ff, config.feed_forward_bias);
  AddNorm(specs, name + "_norm", config);
}

void AddPositions(std::vector<TensorSpec>* specs, const std::string& name,
                  const StackConfig& config) {
  if (config.positions == PositionKind::kLearned)
    specs->push_back({name + ".positions.weight", {config.max_positions, config.d_model}});
}

void AddStack(std::vector<TensorSpec>* specs, const std::string& name, const StackConfig& config,
              bool cross_attention) {
  if (config.embedding_norm) AddNorm(specs, name + ".embedding_norm", config);
  AddPositions(specs, name, config);
  if (config.positions == PositionKind::kRelative)
    specs->push_back({name + ".relative_bias.weight", {config.relative_buckets, config.heads}});
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    const std::string prefix = fmt::format("{}.layers.{}", name, layer);
    if (config.recurrence == Recurrence::kSsru) {
      AddLinear(specs, prefix + ".recurrence.input", config.d_model, config.d_model, false);
      AddLinear(specs, prefix + ".recurrence.forget", config.d_model, config.d_model, true);
      AddNorm(specs, prefix + ".recurrence_norm", config);
    } else {
      AddAttention(specs, prefix + ".self_attention", config);
    }
    if (cross_attention) AddAttention(specs, prefix + ".cross_attention", config);
    AddFeedForward(specs, prefix + ".feed_forward", config);
  }
  if (config.norm_place == NormPlace::kPre) AddNorm(specs, name + ".norm", config);
}

void AddRecurrentLayer(std::vector<TensorSpec>* specs, const std::string& name, int64_t gates,
                       std::pair<int64_t, int64_t> in_out) {
  const auto [in, out] = in_out;
  specs->push_back({name + ".weight_input", {gates * out, in}});
  specs->push_back({name + ".weight_hidden", {gates * out, out}});
  specs->push_back({name + ".bias_input", {gates * out}});
  specs->push_back({name + ".bias_hidden", {gates * out}});
}

void AddRecurrentStack(std::vector<TensorSpec>* specs, const std::string& name,
                       const ModelConfig& config) {
  const bool encoder = name == "encoder";
  const StackConfig& stack = encoder ? *config.encoder : *config.decoder;
  const int64_t gates = config.architecture == Architecture::kLstm ? 4 : 3, width = stack.d_model;
  if (encoder) {
    for (const char* part : {"forward_layer", "backward_layer"})
      AddRecurrentLayer(specs, fmt::format("{}.{}", name, part), gates, {width, width / 2});
  } else {
    for (const char* part : {"query", "key", "value", "output"})
      AddLinear(specs, fmt::format("{}.attention.{}", name, part), width, width,
                stack.attention_bias);
  }
  for (int64_t layer = 0; layer + (encoder ? 1 : 0) < stack.layers; ++layer) {
    const bool with_context = !encoder && layer > 0;
    AddRecurrentLayer(specs, fmt::format("{}.layers.{}", name, layer), gates,
                      {with_context ? 2 * width : width, width});
  }
}

void AddConvolution(std::vector<TensorSpec>* specs, const std::string& name,
                    const StackConfig& stack) {
  const int64_t width = stack.d_model;
  if (stack.separable) specs->push_back({name + ".columns", {stack.kernel_width, width}});
  AddLinear(specs, name, 2 * width, stack.separable ? width : stack.kernel_width * width, true);
}

void AddConvolutionalStack(std::vector<TensorSpec>* specs, const std::string& name,
                           const StackConfig& stack) {
  const int64_t width = stack.d_model;
  AddPositions(specs, name, stack);
  AddLinear(specs, name + ".input", width, width, true);
  for (int64_t layer = 0; layer < stack.layers; ++layer) {
    const std::string prefix = fmt::format("{}.layers.{}", name, layer);
    if (name == "encoder") {
      AddConvolution(specs, prefix, stack);
      continue;
    }
    AddConvolution(specs, prefix + ".convolution", stack);
    AddLinear(specs, prefix + ".query", width, width, true);
    AddLinear(specs, prefix + ".output", width, width, true);
  }
  AddLinear(specs, name + ".output", width, width, true);
}

// What stands after a stack's embedding.
void AddStackOf(std::vector<TensorSpec>* specs, const std::string& name,
                const ModelConfig& config) {
  const bool encoder = name == "encoder";
  const StackConfig& stack = encoder ? *config.encoder : *config.decoder;
  if (config.architecture == Architecture::kTransformer) {
    AddStack(specs, name, stack, !encoder && config.encoder.has_value());
  } else if (config.architecture == Architecture::kConvolution) {
    AddConvolutionalStack(specs, name, stack);
  } else {
    AddRecurrentStack(specs, name, config);
  }
}

void AddHead(std::vector<TensorSpec>* specs, const ModelConfig& config) {
  if (config.head == HeadKind::kNone) return;
  const int64_t width = config.last_stack().d_model;
  const bool labels = config.head == HeadKind::kLabels;
  if (labels || !config.tie_target_output)
    specs->push_back({"head.weight", {config.head_width(), width}});
  if (labels || config.head_bias) specs->push_back({"head.bias", {config.head_width()}});
  if (config.crf) {
    const int64_t count = config.head_width();
    specs->push_back({"head.begin", {count}});
    specs->push_back({"head.end", {count}});
    specs->push_back({"head.transitions", {count, count}});
  }
  if (config.head_transform) {
    AddLinear(specs, "head.transform", width, width, true);
    AddNorm(specs, "head.norm", config.last_stack());
  }
  if (config.head_pooler) AddLinear(specs, "head.pooler", width, width, true);
}

// What makes rows of a joint encoder.
void AddFusion(std::vector<TensorSpec>* specs, const ModelConfig& config) {
  const FusionInput& fusion = *config.fusion;
  const int64_t width = config.encoder->d_model;
  specs->push_back({"text.embedding.weight", {config.source_vocab_size, fusion.text.d_model}});
  AddStack(specs, "text", fusion.text, /*cross_attention=*/false);
  AddLinear(specs, "picture.patches", fusion.picture.d_model, fusion.patches.patch_size(), true);
  AddStack(specs, "picture", fusion.picture, /*cross_attention=*/false);
  specs->push_back({"encoder.summary", {width}});
  AddLinear(specs, "encoder.from_text", width, fusion.text.d_model, true);
  AddLinear(specs, "encoder.from_picture", width, fusion.picture.d_model, true);
  if (!fusion.nodes.empty()) specs->push_back({kNodesName, {std::ssize(fusion.nodes), width}});
  if (fusion.shared_width == 0) return;
  AddLinear(specs, "text.projection", fusion.shared_width, fusion.text.d_model, false);
  AddLinear(specs, "picture.projection", fusion.shared_width, fusion.picture.d_model, false);
}

// What makes rows of an encoder of what it reads.
void AddInput(std::vector<TensorSpec>* specs, const ModelConfig& config) {
  const int64_t width = config.encoder->d_model;
  if (config.input == InputKind::kTokens) {
    specs->push_back({"encoder.embedding.weight", {config.source_vocab_size, width}});
    return;
  }
  if (config.input == InputKind::kItems) return AddFusion(specs, config);
  if (config.input == InputKind::kFrames) {
    const FrameInput& frames = *config.frames;
    for (size_t i = 0; i < frames.kernels.size(); ++i) {
      AddLinear(specs, fmt::format("encoder.convolutions.{}", i), width,
                frames.kernels[i] * (i == 0 ? frames.mels : width), true);
    }
    return;
  }
  AddLinear(specs, "encoder.patches", width, config.patches->patch_size(), true);
  if (config.patches->class_token) specs->push_back({"encoder.patches.class_token", {width}});
}

bool SourceTargetTied(const ModelConfig& config) {
  return config.encoder && config.decoder && config.tie_source_target;
}

}  // namespace

size_t TensorTypeSize(TensorType type) {
  switch (type) {
    case TensorType::kF32:
    case TensorType::kI32:
      return 4;
    case TensorType::kI64:
      return 8;
    default:
      return 1;
  }
}

const char* TensorTypeName(TensorType type) {
  switch (type) {
    case TensorType::kF32:
      return "F32";
    case TensorType::kI32:
      return "I32";
    case TensorType::kI64:
      return "I64";
    case TensorType::kI8:
      return "I8";
    default:
      return "U8";
  }
}

int64_t TensorView::elements() const {
  int64_t product = 1;
  for (const int64_t size : shape) product *= size;
  return product;
}

void TensorTable::Add(TensorView tensor) {
  if (!positions_.emplace(tensor.name, tensors_.size()).second) {
    throw Error(ErrorKind::kInput, fmt::format("tensor '{}' appears twice", tensor.name));
  }
  tensors_.push_back(std::move(tensor));
}

const TensorView* TensorTable::Find(const std::string& name) const {
  const auto found = positions_.find(name);
  return found == positions_.end() ? nullptr : &tensors_[found->second];
}

const TensorView& TensorTable::Get(const std::string& name) const {
  if (const TensorView* tensor = Find(name)) return *tensor;
  throw Error(ErrorKind::kInput, fmt::format("tensor '{}' is missing", name));
}

std::vector<TensorSpec> ExpectedTensors(const ModelConfig& config) {
  std::vector<TensorSpec> specs;
  if (config.encoder) {
    AddInput(&specs, config);
    AddStackOf(&specs, "encoder", config);
  }
  if (config.decoder) {
    if (!SourceTargetTied(config)) {
      specs.push_back(
          {"decoder.embedding.weight", {config.target_vocab_size, config.decoder->d_model}});
    }
    AddStackOf(&specs, "decoder", config);
  }
  AddHead(&specs, config);
  return specs;
}

bool MayBeInt8(const TensorSpec& spec) {
  return spec.shape.size() == 2 && !spec.name.ends_with(".positions.weight") &&
         !spec.name.ends_with(".relative_bias.weight") && spec.name != "head.transitions" &&
         spec.name != kNodesName;
}

std::string DecoderEmbeddingName(const ModelConfig& config) {
  return SourceTargetTied(config) ? "encoder.embedding.weight" : "decoder.embedding.weight";
}

std::string OutputWeightName(const ModelConfig& config) {
  if (config.head == HeadKind::kLabels || !config.tie_target_output) return "head.weight";
  return config.decoder ? DecoderEmbeddingName(config) : "encoder.embedding.weight";
}

int64_t ParameterCount(const ModelConfig& config) {
  int64_t sum = 0;
  for (const TensorSpec& spec : ExpectedTensors(config)) {
    int64_t product = 1;
    for (const int64_t size : spec.shape) product *= size;
    sum += product;
  }
  return sum;
}

namespace {

// The type of every matrix that may be int8, which is the first one's.
void CheckMatrices(const TensorTable& tensors, const ModelConfig& config,
                   const std::string& where) {
  const TensorView* first = nullptr;
  for (const TensorSpec& spec : ExpectedTensors(config)) {
    if (!MayBeInt8(spec)) continue;
    const TensorView& tensor = tensors.Get(spec.name);
    if (first == nullptr) first = &tensor;
    if (tensor.type != first->type) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{}: tensor '{}' has type {} and '{}' has {}, expected I8 for all "
                              "matrices or for none",
                              where, first->name, TensorTypeName(first->type), tensor.name,
                              TensorTypeName(tensor.type)));
    }
    if (tensor.type == TensorType::kI8 && spec.shape[1] > kMostInt8Columns) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{}: tensor '{}' is I8 with rows of {}, expected at most {}", where,
                              tensor.name, spec.shape[1], kMostInt8Columns));
    }
  }
}

}  // namespace

void CheckTensors(const TensorTable& tensors, const ModelConfig& config, const std::string& where) {
  std::set<std::string> known;
  const auto check = [&](const std::string& name, const std::vector<int64_t>& shape,
                         bool may_be_int8) {
    const TensorView* tensor = tensors.Find(name);
    if (tensor == nullptr)
      throw Error(ErrorKind::kInput, fmt::format("{}: tensor '{}' is missing", where, name));
    if (tensor->shape != shape) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{}: tensor '{}' has shape [{}], expected [{}]", where, name,
                              fmt::join(tensor->shape, ", "), fmt::join(shape, ", ")));
    }
    if (tensor->type != TensorType::kF32 && !(may_be_int8 && tensor->type == TensorType::kI8)) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{}: tensor '{}' has type {}, expected F32{}", where, name,
                              TensorTypeName(tensor->type), may_be_int8 ? " or I8" : ""));
    }
    known.insert(name);
  };
  for (const TensorSpec& spec : ExpectedTensors(config)) {
    check(spec.name, spec.shape, MayBeInt8(spec));
    if (tensors.Get(spec.name).type == TensorType::kI8)
      check(spec.name + "_scale", {spec.shape[0]}, false);
  }
  CheckMatrices(tensors, config, where);
  for (const TensorView& tensor : tensors.tensors()) {
    if (known.count(tensor.name)) continue;
    throw Error(ErrorKind::kInput,
                fmt::format("{}: tensor '{}' is not part of this model{}", where, tensor.name,
                            DidYouMean(tensor.name, {known.begin(), known.end()})));
  }
}

}  // namespace attend
