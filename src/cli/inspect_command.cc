// `attend inspect`: what a model directory holds, or what a model that is described would.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>

#include "attend/error.h"
#include "attend/vocabulary.h"
#include "base/counted.h"
#include "base/excerpt.h"
#include "base/files.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/described_model.h"
#include "model/adapter.h"
#include "model/operations.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

struct InspectOptions {
  std::string model, preset;
  int64_t vocab_size = 32000;
  bool flops = false;
  int64_t source_length = 32, target_length = 32;
};

FieldList Fields(InspectOptions& options) {
  constexpr double kMostTokens = 1 << 20;
  FieldList fields;
  fields
      .Add("preset", &options.preset,
           "in place of MODEL: a shape as training has it, such as base or big")
      .Add("vocab_size", &options.vocab_size, 8, 1 << 24, "vocabulary of the preset")
      .Add("flops", &options.flops,
           "count the operations of one text, picture or recording, forward and in training; a "
           "multiplication with its addition is two")
      .Add("source_length", &options.source_length, 1, kMostTokens,
           "tokens of that text that an encoder reads, with eos, or rows of that recording, which "
           "are all of a padded one unless they are given; not for pictures")
      .Add("target_length", &options.target_length, 1, kMostTokens,
           "tokens of it that a decoder reads, with bos");
  return fields;
}

// "decoder.layers.2.self_attention.query.weight" belongs to "decoder.layers.*.self_attention".
std::string PartOf(const std::string& tensor) {
  const size_t layers = tensor.find(".layers.");
  if (layers == std::string::npos) return tensor.substr(0, tensor.rfind('.'));
  const size_t part = tensor.find('.', layers + 8) + 1;
  return tensor.substr(0, layers) + ".layers.*." +
         tensor.substr(part, tensor.find('.', part) - part);
}

struct ParameterCounts {
  int64_t total = 0;
  std::vector<std::pair<std::string, int64_t>> parts;  // in the order of the model file
};

ParameterCounts CountParameters(const std::vector<TensorSpec>& specs) {
  ParameterCounts counts;
  std::map<std::string, size_t> places;
  for (const TensorSpec& spec : specs) {
    const std::string part = PartOf(spec.name);
    const auto [place, added] = places.emplace(part, counts.parts.size());
    if (added) counts.parts.emplace_back(part, 0);
    int64_t elements = 1;
    for (const int64_t size : spec.shape) elements *= size;
    counts.parts[place->second].second += elements;
    counts.total += elements;
  }
  return counts;
}

// Of a model those that it is made of, of an adapter those that it holds.
std::vector<TensorSpec> SpecsOf(const Model& model, bool adapter) {
  if (!adapter) return ExpectedTensors(model.config);
  std::vector<TensorSpec> specs;
  for (const TensorView& tensor : model.tensors.tensors())
    specs.push_back({tensor.name, tensor.shape});
  return specs;
}

Json ParametersToJson(const std::vector<TensorSpec>& specs) {
  const ParameterCounts counts = CountParameters(specs);
  Json result = {{"total", counts.total}, {"parts", Json::object()}};
  for (const auto& [part, count] : counts.parts) result["parts"][part] = count;
  return result;
}

// Throws Error(kUsage) where learned positions end before the text does.
void CheckLength(const std::optional<StackConfig>& stack, const char* option, int64_t length) {
  if (!stack || stack->positions != PositionKind::kLearned) return;
  const int64_t most = std::max<int64_t>(stack->max_positions - stack->position_offset, 0);
  if (length > most) {
    throw Error(ErrorKind::kUsage,
                fmt::format("attend inspect: {} is {}, but the model has {} learned positions",
                            option, length, most));
  }
}

// That the encoder reads of everything, where that is the model's to say; else 0.
int64_t FixedRows(const ModelConfig& config) {
  if (config.patches) return config.patches->rows();
  if (!config.frames) return 0;
  return config.frames->RowsOf(config.frames->FramesOf(config.frames->padded_samples()));
}

void CompleteLengths(const ModelConfig& config, const CommandLine& command_line,
                     InspectOptions* options) {
  const int64_t rows = FixedRows(config);
  const bool given = command_line.IsSet("source_length");
  if (given && config.patches) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("attend inspect: --source-length is given, but the model reads pictures, "
                    "each as {} rows; leave it out",
                    rows));
  }
  if (given && !config.encoder) {
    throw Error(ErrorKind::kUsage,
                "attend inspect: --source-length is given, but the model reads its text in the "
                "decoder; give --target-length");
  }
  if (!given && rows > 0) options->source_length = rows;
}

Json OperationsToJson(const ModelConfig& config, const InspectOptions& options) {
  CheckLength(config.encoder, "--source-length", options.source_length);
  CheckLength(config.decoder, "--target-length", options.target_length);
  const TextLengths lengths = LengthsOf(config, options.source_length, options.target_length);
  Json parts = Json::object();
  double forward = 0;
  const auto whole = [](double operations) -> Json {
    constexpr double kExact = int64_t{1} << 53;
    if (operations < kExact) return static_cast<int64_t>(operations);
    return operations;
  };
  for (const OperationPart& part : CountOperations(config, lengths)) {
    parts[part.name] = whole(part.forward);
    forward += part.forward;
  }
  const double training = kForwardAndBackward * forward;
  const auto tokens = static_cast<double>(lengths.source + lengths.target);
  return {{"source_length", lengths.source},
          {"target_length", lengths.target},
          {"forward", whole(forward)},
          {"training", whole(training)},
          {"forward_per_token", forward / tokens},
          {"training_per_token", training / tokens},
          {"parts", parts}};
}

// Of a model without weights.
Json InspectDescribed(const ModelConfig& config) {
  return {{"model", ModelConfigToJson(config)},
          {"parameters", ParametersToJson(ExpectedTensors(config))}};
}

Json VocabularyToJson(const std::string& bytes) {
  if (bytes.empty()) return nullptr;
  const auto vocabulary = Vocabulary::FromBytes(bytes, "vocabulary");
  const SpecialIds ids = vocabulary->special_ids();
  return {
      {"pieces", vocabulary->size()},
      {"bytes", bytes.size()},
      {"special_ids", {{"pad", ids.pad}, {"unk", ids.unk}, {"bos", ids.bos}, {"eos", ids.eos}}}};
}

Json InspectModel(const std::shared_ptr<const Model>& model, const ConfigFile& config,
                  const fs::path& directory) {
  Json result = {{"format_version", config.format_version},
                 {"model", ModelConfigToJson(model->config)}};
  if (config.adapter) result["adapter"] = AdapterFactsToJson(*config.adapter);
  result["parameters"] = ParametersToJson(SpecsOf(*model, config.adapter.has_value()));
  result["tensors"] = Json::array();
  for (const TensorView& tensor : model->tensors.tensors()) {
    result["tensors"].push_back({{"name", tensor.name},
                                 {"type", TensorTypeName(tensor.type)},
                                 {"shape", tensor.shape},
                                 {"bytes", tensor.bytes()}});
  }
  const bool joint = model->source_vocabulary == model->target_vocabulary;
  result["vocabulary"] = {{"joint", joint},
                          {"source", VocabularyToJson(model->source_vocabulary)},
                          {"target", VocabularyToJson(model->target_vocabulary)}};
  result["tokenization"] = model->tokenization;
  result["provenance"] = model->provenance;
  result["training_text"] = TrainingTextToJson(model->training_text);
  result["samples"] = model->samples.size();
  result["files"] = Json::object();
  for (const auto& [name, digest] : config.digests) {
    result["files"][name] = {{"bytes", fs::file_size(directory / name)}, {"sha256", digest}};
  }
  return result;
}

// 65012345 as "65,012,345".
std::string Grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (auto i = static_cast<int64_t>(text.size()) - 3; i > 0; i -= 3) text.insert(i, 1, ',');
  return text;
}

// Of other architectures than the Transformer: what they have.
std::string DescribeRival(const StackConfig& stack, const ModelConfig& config) {
  const std::string layers =
      fmt::format("{}, {}, d_model {}", ArchitectureName(config.architecture),
                  Counted(stack.layers, "layer"), stack.d_model);
  if (!IsRecurrent(config.architecture))
    return fmt::format("{}, {}windows of {}", layers, stack.separable ? "separable " : "",
                       Counted(stack.kernel_width, "token"));
  const bool attends = config.decoder && &stack == &*config.decoder;
  return attends ? fmt::format("{}, {} of attention", layers, Counted(stack.heads, "head"))
                 : layers;
}

std::string DescribePatches(const PatchInput& patches) {
  return fmt::format("pictures, {} wide and {} high, {}, in patches of {} x {}{}", patches.width,
                     patches.height, patches.channels == 1 ? "grey" : "colour", patches.patch,
                     patches.patch, patches.class_token ? ", after a class token" : "");
}

std::string DescribeStack(const StackConfig& stack, const ModelConfig& whole) {
  if (whole.architecture != Architecture::kTransformer) return DescribeRival(stack, whole);
  const Json fields = [&] {
    ModelConfig config;
    config.encoder = stack;
    return ModelConfigToJson(config)["encoder"];
  }();
  const auto text = [&](const char* name) { return fields[name].get<std::string>(); };
  std::string positions =
      (stack.positions == PositionKind::kNone ? "no" : text("positions")) + " positions";
  if (stack.positions == PositionKind::kLearned)
    positions += fmt::format(" (at most {})", stack.max_positions);
  if (stack.positions == PositionKind::kRelative) {
    positions += fmt::format(" ({} buckets, up to a distance of {})", stack.relative_buckets,
                             stack.relative_max_distance);
  }
  const std::string window =
      stack.attention_window == 0
          ? ""
          : fmt::format(", self-attention within {} positions", stack.attention_window);
  return fmt::format(
      "{}, d_model {}, {} (d_k {}, d_v {}), d_ff {}, {}, {}-norm ({}epsilon {}), "
      "{}{}{}{}{}",
      Counted(stack.layers, "layer"), stack.d_model, Counted(stack.heads, "head"),
      stack.key_width(), stack.value_width(), stack.d_ff, text("activation"), text("norm_place"),
      stack.norm == NormKind::kRmsNorm ? "RMS, " : "", stack.norm_epsilon, positions, window,
      stack.recurrence == Recurrence::kSsru ? ", SSRU in place of self-attention" : "",
      stack.attention_bias ? ", biases on attention" : "",
      stack.feed_forward_bias ? "" : ", no biases in the feed-forward layer");
}

std::string DescribeFrames(const FrameInput& frames) {
  std::string text = fmt::format("sound of {} Hz, {} bands every {} samples", Grouped(frames.rate),
                                 frames.mels, frames.hop);
  for (size_t i = 0; i < frames.kernels.size(); ++i) {
    text +=
        fmt::format(", a convolution over {} by steps of {}", frames.kernels[i], frames.strides[i]);
  }
  if (frames.padded_seconds > 0)
    text += fmt::format(", filled up to {} seconds", frames.padded_seconds);
  return text;
}

std::string DescribeHead(const ModelConfig& config) {
  if (config.head == HeadKind::kNone) return "none";
  if (config.head == HeadKind::kVocabulary) {
    const std::string what =
        config.constituents.empty()
            ? fmt::format("{} pieces of the vocabulary", config.target_vocab_size)
            : fmt::format("symbols of trees: {} labels of constituents, {} tags{}",
                          config.constituents.size(), config.tags.size(),
                          config.next_word_input ? "; the decoder reads the next word" : "");
    return fmt::format("{}, weights {}{}{}", what, OutputWeightName(config),
                       config.head_bias ? ", with a bias" : "",
                       config.head_transform ? ", after a dense layer and a norm" : "");
  }
  const std::map<Pooling, std::string> of = {
      {Pooling::kTokens, "words"},
      {Pooling::kFirst,
       config.patches ? "pictures, by the first row" : "texts, by the first token"},
      {Pooling::kMean,
       config.patches ? "pictures, by the mean of the rows" : "texts, by the mean of the tokens"}};
  if (config.fusion) {
    return fmt::format("{} labels of items, by the summary: {}", config.labels.size(),
                       Excerpt(fmt::format("{}", fmt::join(config.labels, ", "))));
  }
  const bool tanh = config.pooler_activation == PoolerActivation::kTanh;
  const std::string pooler = fmt::format(", after a dense layer and {}", tanh ? "tanh" : "relu");
  return fmt::format("{} labels of {}{}: {}{}", config.labels.size(), of.at(config.pooling),
                     config.head_pooler ? pooler : "",
                     Excerpt(fmt::format("{}", fmt::join(config.labels, ", "))),
                     config.crf ? "; a CRF" : "");
}

void PrintArchitecture(const ModelConfig& config) {
  const auto line = [](const std::string& name, const std::string& text) {
    std::cout << fmt::format("{:<14} {}\n", name, Printable(text));
  };
  line("task", config.task);
  if (!config.languages.empty())
    line("languages", fmt::format("{}", fmt::join(config.languages, " -> ")));
  if (config.patches) line("input", DescribePatches(*config.patches));
  if (config.frames) line("input", DescribeFrames(*config.frames));
  if (config.fusion) {
    line("text", DescribeStack(config.fusion->text, config));
    line("picture", DescribePatches(config.fusion->patches));
    line("", DescribeStack(config.fusion->picture, config));
    line("graph", fmt::format("{} nodes", config.fusion->nodes.size()));
    if (config.fusion->shared_width > 0)
      line("vectors", fmt::format("{} wide, of texts and pictures", config.fusion->shared_width));
  }
  line("encoder", config.encoder ? DescribeStack(*config.encoder, config) : "none");
  line("decoder", config.decoder ? DescribeStack(*config.decoder, config) : "none");
  if (config.alignment_layer > 0)
    line("alignments", fmt::format("from decoder layer {}", config.alignment_layer));
  line("output", DescribeHead(config));
}

void PrintVocabulary(const Json& vocabulary) {
  const auto line = [](const char* name, const Json& side) {
    if (side.is_null()) {
      std::cout << fmt::format("{:<14} none\n", name);
      return;
    }
    const Json& ids = side["special_ids"];
    std::cout << fmt::format("{:<14} {} pieces, {} bytes (pad {}, unk {}, bos {}, eos {})\n", name,
                             side["pieces"].get<int64_t>(), Grouped(side["bytes"].get<int64_t>()),
                             ids["pad"].get<int64_t>(), ids["unk"].get<int64_t>(),
                             ids["bos"].get<int64_t>(), ids["eos"].get<int64_t>());
  };
  if (vocabulary["joint"].get<bool>()) return line("vocabulary", vocabulary["source"]);
  line("source pieces", vocabulary["source"]);
  line("target pieces", vocabulary["target"]);
}

void PrintAdapter(const Json& adapter) {
  const auto line = [](const char* name, const std::string& text) {
    std::cout << fmt::format("{:<14} {}\n", name, text);
  };
  line("adapter of",
       "the model whose weights have SHA-256 " + adapter["base_sha256"].get<std::string>());
  line("rank", fmt::format("{}, alpha {}, of {} matrices{}", adapter["rank"].get<int64_t>(),
                           adapter["alpha"].get<double>(), adapter["matrices"].size(),
                           adapter["head"].get<bool>() ? ", and a head of its own" : ""));
}

void PrintTensors(const Json& tensors) {
  std::cout << fmt::format("\ntensors: {}\n", tensors.size());
  for (const Json& tensor : tensors) {
    const std::string shape =
        fmt::format("[{}]", fmt::join(tensor["shape"].get<std::vector<int64_t>>(), ", "));
    std::cout << fmt::format(
        "  {:<52} {:<4} {:>16} {:>16} bytes\n", Printable(tensor["name"].get<std::string>()),
        tensor["type"].get<std::string>(), shape, Grouped(tensor["bytes"].get<int64_t>()));
  }
}

void PrintMembers(const char* title, const Json& object) {
  std::cout << fmt::format("\n{}:{}\n", title, object.empty() ? " none" : "");
  for (const auto& [key, value] : object.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : Dump(value);
    std::cout << fmt::format("  {}: {}\n", Printable(key), Printable(text));
  }
}

void PrintOperations(const ModelConfig& config, const Json& operations) {
  const auto line = [](const std::string& name, double count) {
    std::cout << fmt::format("  {:<40} {:>22}\n", name, Grouped(std::llround(count)));
  };
  const auto source = operations["source_length"].get<int64_t>(),
             target = operations["target_length"].get<int64_t>();
  std::string what = fmt::format("a text, {} source and {} target tokens", source, target);
  if (config.patches) what = fmt::format("a picture, {}", Counted(source, "row"));
  if (config.frames) {
    what = fmt::format("a recording, {} and {}", Counted(source, "row"),
                       Counted(target, "target token"));
  }
  std::cout << fmt::format("\noperations of {}; a multiplication with its addition is two:\n",
                           what);
  for (const auto& [part, count] : operations["parts"].items()) line(part, count.get<double>());
  line("forward", operations["forward"].get<double>());
  line("training (forward and backward)", operations["training"].get<double>());
  const char* const each = config.patches ? "row" : "token";
  line(fmt::format("forward, per {}", each), operations["forward_per_token"].get<double>());
  line(fmt::format("training, per {}", each), operations["training_per_token"].get<double>());
}

void PrintParameters(const Json& parameters) {
  std::cout << fmt::format("\nparameters: {}\n", Grouped(parameters["total"].get<int64_t>()));
  for (const auto& [part, count] : parameters["parts"].items()) {
    std::cout << fmt::format("  {:<40} {:>14}\n", Printable(part), Grouped(count.get<int64_t>()));
  }
}

void PrintStored(const Json& result) {
  PrintTensors(result["tensors"]);
  std::cout << "\nfiles:\n";
  for (const auto& [name, file] : result["files"].items()) {
    std::cout << fmt::format("  {:<18} {:>14} bytes  SHA-256 {}\n", name,
                             Grouped(file["bytes"].get<int64_t>()),
                             file["sha256"].get<std::string>());
  }
  PrintMembers("tokenization", result["tokenization"]);
  PrintMembers("provenance", result["provenance"]);
  PrintMembers("training text", result["training_text"]);
}

void Print(const ModelConfig& config, const Json& result) {
  const bool stored = result.contains("format_version");
  if (stored) {
    std::cout << fmt::format("{:<14} {}\n", "format version",
                             result["format_version"].get<int64_t>());
  }
  const bool adapter = result.contains("adapter");
  if (adapter) PrintAdapter(result["adapter"]);
  PrintArchitecture(config);
  if (stored && !adapter) PrintVocabulary(result["vocabulary"]);  // an adapter has its base's
  if (stored) std::cout << fmt::format("{:<14} {}\n", "samples", result["samples"].get<int64_t>());
  PrintParameters(result["parameters"]);
  if (result.contains("operations")) PrintOperations(config, result["operations"]);
  if (stored) PrintStored(result);
}

Json InspectDirectory(const ConfigFile& config, const fs::path& directory) {
  std::shared_ptr<const Model> model;
  if (config.adapter) {
    const std::shared_ptr<const Adapter> adapter = LoadAdapter(directory);
    model = {adapter, &adapter->model};
  } else {
    model = LoadModel(directory);
  }
  return InspectModel(model, config, directory);
}

void CheckOptions(const CommandLine& command_line, const InspectOptions& options) {
  const auto refuse = [](const std::string& why) {
    throw Error(ErrorKind::kUsage, "attend inspect: " + why);
  };
  if (options.model.empty() && options.preset.empty()) refuse("MODEL or --preset is missing");
  if (!options.model.empty() && !options.preset.empty())
    refuse("MODEL and --preset are given; leave out one");
  if (options.preset.empty() && command_line.IsSet("vocab_size"))
    refuse("--vocab-size is for a preset; leave it out, or give --preset");
  for (const char* length : {"source", "target"}) {
    if (!options.flops && command_line.IsSet(fmt::format("{}_length", length)))
      refuse(fmt::format("--{}-length is for --flops; leave it out, or give --flops", length));
  }
}

}  // namespace

int RunInspect(const std::vector<std::string>& arguments) {
  CommonOptions common;
  InspectOptions options;
  CommandLine command_line("inspect", "show what a model directory holds",
                           "attend inspect model\n"
                           "attend inspect model --json\n"
                           "attend inspect model --flops --source-length 20 --target-length 22\n"
                           "attend inspect --preset base --vocab-size 37000 --flops");
  command_line
      .Positional("MODEL", &options.model,
                  "directory of a model or an adapter, or a config.json alone, to which no other "
                  "file is needed",
                  /*required=*/false)
      .Options(Fields(options))
      .Options(Fields(common, {"json"}));
  if (!command_line.Parse(arguments)) return 0;
  CheckOptions(command_line, options);
  ModelConfig config;
  Json result;
  std::error_code unknown;  // said when the directory is read
  if (!options.preset.empty() || fs::is_regular_file(options.model, unknown)) {
    config = options.preset.empty() ? ReadModelConfig(options.model)
                                    : PresetModel(options.preset, options.vocab_size);
    result = InspectDescribed(config);
  } else {
    const ConfigFile file = ReadConfig(options.model);
    config = file.model;
    result = InspectDirectory(file, options.model);
  }
  if (options.flops) {
    CompleteLengths(config, command_line, &options);
    result["operations"] = OperationsToJson(config, options);
  }
  PrintReport(common, result, [&](const Json& report) { Print(config, report); });
  return 0;
}

}  // namespace attend
