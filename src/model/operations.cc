#include "model/operations.h"

#include <algorithm>
#include <utility>

namespace attend {
namespace {

// Of a product of so many rows, inner numbers and columns.
double Product(int64_t rows, int64_t inner, int64_t columns) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(inner) *
         static_cast<double>(columns);
}

// Collects parts of one stack.
class StackCounter {
 public:
  StackCounter(std::string name, const StackConfig& config, std::vector<OperationPart>* parts)
      : name_(std::move(name)), config_(config), parts_(parts) {}

  // A product with a matrix in each layer.
  void AddProduct(const std::string& part, int64_t rows, int64_t inner, int64_t columns) {
    Add(part, Product(rows, inner, columns), true);
  }
  // `pairs` of a query and a key.
  void AddAttention(const std::string& attention, int64_t queries, int64_t keys, double pairs) {
    const int64_t key_columns = config_.heads * config_.key_width(),
                  value_columns = config_.heads * config_.value_width();
    Add(attention + ".projections",
        Product(queries, config_.d_model, key_columns) +
            Product(keys, config_.d_model, key_columns + value_columns) +
            Product(queries, value_columns, config_.d_model),
        true);
    Add(attention + ".scores", 2 * pairs * static_cast<double>(key_columns), false);
    Add(attention + ".sums", 2 * pairs * static_cast<double>(value_columns), false);
  }

 private:
  void Add(const std::string& part, double in_a_layer, bool has_weights) {
    parts_->push_back(
        {name_ + "." + part, in_a_layer * static_cast<double>(config_.layers), has_weights});
  }

  std::string name_;
  const StackConfig& config_;
  std::vector<OperationPart>* parts_;
};

double PairsOf(int64_t queries, int64_t keys) {
  return static_cast<double>(queries) * static_cast<double>(keys);
}

// Of a query and a key at most `window` positions away: those of so many keys after all queries,
// but for what ends with the text.
double PairsNear(int64_t length, int64_t window, bool both_ways) {
  const int64_t reach = std::min(window, length - 1);
  const double one_side = PairsOf(length, reach) - PairsOf(reach, reach + 1) / 2;
  return static_cast<double>(length) + (both_ways ? 2 : 1) * one_side;
}

double SelfPairs(const StackConfig& config, int64_t length, bool both_ways) {
  if (config.attention_window == 0 || length == 0) return PairsOf(length, length);
  return PairsNear(length, config.attention_window, both_ways);
}

// `memory`: tokens of the encoder's output that a decoder reads; -1: it reads none.
void AddStack(const std::string& name, const StackConfig& config, int64_t length, int64_t memory,
              std::vector<OperationPart>* parts) {
  StackCounter counter(name, config, parts);
  if (config.recurrence == Recurrence::kSsru) {
    counter.AddProduct("recurrence", length, config.d_model, 2 * config.d_model);
  } else {
    counter.AddAttention("self_attention", length, length,
                         SelfPairs(config, length, /*both_ways=*/name != "decoder"));
  }
  if (memory >= 0) counter.AddAttention("cross_attention", length, memory, PairsOf(length, memory));
  counter.AddProduct("feed_forward", length, config.d_model,
                     config.d_ff * (IsGated(config.activation) ? 3 : 2));
}

// Over time, for so many rows of the stack: what comes before a convolution has more of them.
void AddConvolutions(const FrameInput& frames, int64_t width, int64_t rows,
                     std::vector<OperationPart>* parts) {
  double operations = 0;
  for (size_t i = frames.kernels.size(); i-- > 0; rows *= frames.strides[i])
    operations += Product(rows, frames.kernels[i] * (i == 0 ? frames.mels : width), width);
  parts->push_back({"encoder.convolutions", operations});
}

// What makes the encoder's rows.
void AddInput(const ModelConfig& config, int64_t rows, std::vector<OperationPart>* parts) {
  if (config.input == InputKind::kTokens) {
    parts->push_back({"encoder.embedding", 0});
    return;
  }
  if (config.input == InputKind::kFrames) {
    AddConvolutions(*config.frames, config.encoder->d_model, rows, parts);
    return;
  }
  const int64_t patches = rows - (config.patches->class_token ? 1 : 0);
  parts->push_back(
      {"encoder.patches", Product(patches, config.patches->patch_size(), config.encoder->d_model)});
}

// Of a joint encoder and those below it: of an item with so many tokens, a picture and no links.
void AddFusion(const ModelConfig& config, int64_t tokens, std::vector<OperationPart>* parts) {
  const FusionInput& fusion = *config.fusion;
  const int64_t patches = fusion.patches.patches(), width = config.encoder->d_model;
  parts->push_back({"text.embedding", 0});
  AddStack("text", fusion.text, tokens, -1, parts);
  parts->push_back(
      {"picture.patches", Product(patches, fusion.patches.patch_size(), fusion.picture.d_model)});
  AddStack("picture", fusion.picture, patches, -1, parts);
  parts->push_back({"encoder.from_text", Product(tokens, fusion.text.d_model, width)});
  parts->push_back({"encoder.from_picture", Product(patches, fusion.picture.d_model, width)});
  AddStack("encoder", *config.encoder, 1 + tokens + patches, -1, parts);
}

// Of one head, over projections of the stack's width where there are any.
void AddAttentionOf(const std::string& name, double layers, int64_t width, double pairs,
                    std::vector<OperationPart>* parts) {
  for (const char* part : {".scores", ".sums"})
    parts->push_back({name + part, layers * 2 * pairs * static_cast<double>(width), false});
}

void AddRecurrentStack(const ModelConfig& config, bool encoder, const TextLengths& lengths,
                       std::vector<OperationPart>* parts) {
  const StackConfig& stack = encoder ? *config.encoder : *config.decoder;
  const std::string name = encoder ? "encoder" : "decoder";
  const int64_t width = stack.d_model, gates = config.architecture == Architecture::kLstm ? 4 : 3,
                rows = encoder ? lengths.source : lengths.target;
  // Gates read a layer's input and its own last output. The encoder's first layer has two halves;
  // further ones of the decoder read the context beside their input.
  const auto layer = [&](int64_t in, int64_t out) { return Product(rows, in + out, gates * out); };
  const auto further = static_cast<double>(stack.layers - 1);
  parts->push_back({name + ".embedding", 0});
  parts->push_back(
      {name + ".recurrence", encoder ? 2 * layer(width, width / 2) + further * layer(width, width)
                                     : layer(width, width) + further * layer(2 * width, width)});
  if (encoder) return;
  parts->push_back(
      {name + ".attention.projections",
       Product(lengths.target, width, 2 * width) + Product(lengths.source, width, 2 * width)});
  AddAttentionOf(name + ".attention", 1, width, PairsOf(lengths.target, lengths.source), parts);
}

void AddConvolutionalStack(const ModelConfig& config, bool encoder, const TextLengths& lengths,
                           std::vector<OperationPart>* parts) {
  const StackConfig& stack = encoder ? *config.encoder : *config.decoder;
  const std::string name = encoder ? "encoder" : "decoder";
  const int64_t width = stack.d_model, rows = encoder ? lengths.source : lengths.target;
  const auto layers = static_cast<double>(stack.layers);
  parts->push_back({name + ".embedding", 0});
  parts->push_back({name + ".input", Product(rows, width, width)});
  const double convolution =
      stack.separable ? Product(rows, stack.kernel_width, width) + Product(rows, width, 2 * width)
                      : Product(rows, stack.kernel_width * width, 2 * width);
  parts->push_back({name + ".convolution", layers * convolution});
  if (!encoder) {
    parts->push_back({name + ".attention.projections", layers * Product(rows, width, 2 * width)});
    AddAttentionOf(name + ".attention", layers, width, PairsOf(rows, lengths.source), parts);
  }
  parts->push_back({name + ".output", Product(rows, width, width)});
}

void AddHead(const ModelConfig& config, int64_t rows, std::vector<OperationPart>* parts) {
  const int64_t width = config.last_stack().d_model;
  for (const auto& [name, present] : {std::pair{"head.transform", config.head_transform},
                                      std::pair{"head.pooler", config.head_pooler}})
    if (present) parts->push_back({name, Product(rows, width, width)});
  if (config.head != HeadKind::kNone)
    parts->push_back({"head.output", Product(rows, width, config.head_width())});
}

}  // namespace

TextLengths LengthsOf(const ModelConfig& config, int64_t source, int64_t target) {
  const int64_t last = config.decoder ? target : source;
  const bool of_text = config.head == HeadKind::kLabels && config.pooling != Pooling::kTokens;
  return {config.encoder ? source : 0, config.decoder ? target : 0,
          of_text ? std::min<int64_t>(last, 1) : last};
}

std::vector<OperationPart> CountOperations(const ModelConfig& config, const TextLengths& lengths) {
  std::vector<OperationPart> parts;
  if (config.architecture != Architecture::kTransformer) {
    const auto add = IsRecurrent(config.architecture) ? AddRecurrentStack : AddConvolutionalStack;
    add(config, /*encoder=*/true, lengths, &parts);
    add(config, /*encoder=*/false, lengths, &parts);
    AddHead(config, lengths.outputs, &parts);
    return parts;
  }
  if (config.fusion) {
    AddFusion(config, lengths.source, &parts);
  } else if (config.encoder) {
    AddInput(config, lengths.source, &parts);
    AddStack("encoder", *config.encoder, lengths.source, -1, &parts);
  }
  if (config.decoder) {
    parts.push_back({"decoder.embedding", 0});
    const int64_t memory = config.encoder ? lengths.source : -1;
    AddStack("decoder", *config.decoder, lengths.target, memory, &parts);
  }
  AddHead(config, lengths.outputs, &parts);
  return parts;
}

}  // namespace attend
