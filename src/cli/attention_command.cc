// `attend attention`: what looks at what, as a picture or as numbers.
#include <fmt/format.h>

#include <filesystem>

#include "attend/classifier.h"
#include "attend/error.h"
#include "attend/scorer.h"
#include "attend/translator.h"
#include "attend/vocabulary.h"
#include "base/files.h"
#include "cli/attention_view/attention_view.h"
#include "cli/attention_view/item_view.h"
#include "cli/attention_view/picture_view.h"
#include "cli/attention_view/recording_view.h"
#include "cli/attention_view/statistics.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/line_windows.h"
#include "media/fit_picture.h"
#include "model/quantize.h"
#include "tasks/attention_labels.h"
#include "tasks/classification/classification_json.h"
#include "tasks/classification/picture_attention.h"
#include "tasks/encoder_attention.h"
#include "tasks/language_model/text_attention.h"
#include "tasks/loaded_model.h"
#include "tasks/translation/protection.h"
#include "text/newlines.h"
#include "text/utf8.h"

namespace attend {
namespace {

enum class KindOption { kEncoder, kDecoder, kCross };
constexpr const char* kKindNames[] = {"encoder", "decoder", "cross"};

struct AttentionOptions {
  // `file`: of items, or a recording.
  std::string model, adapter, source, target, picture, file, output, input, references;
  int64_t item = 1;
  bool statistics = false;
  WeightType type = WeightType::kStored;
  KindOption kind = KindOption::kCross;
  int64_t layer = 0, segment = 1;
};

FieldList Fields(AttentionOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "model directory")
      .Nest("", AdapterField(&options.adapter))
      .Nest("", TypeField(&options.type))
      .Add("source", &options.source, "the input text, or the text of a model that reads one")
      .Add("target", &options.target, "the output text; where it is not given the model translates")
      .Add("picture", &options.picture,
           "of a model that reads pictures: a PNG or JPEG file, over which attention is drawn")
      .Add("item", &options.item, 1, 1e9,
           "of a model of fusion: which line of FILE is drawn, from 1; .svg shows all layers "
           "together")
      .Add("output", &options.output,
           "file to write: .svg (one layer), .html (all), .json (numbers); --statistics needs none")
      .Add("kind", &options.kind, {kKindNames[0], kKindNames[1], kKindNames[2]},
           "which attention the picture shows, or opens with; a language model has decoder alone, "
           "a model without decoder encoder, and one of transcription cross")
      .Add("layer", &options.layer, 0, 1000, "which layer, from 1; 0: the last")
      .Add("segment", &options.segment, 1, 100000,
           "of a recording that is cut at silence: which part, from 1; a page has the first 32")
      .Group("Statistics")
      .Add("statistics", &options.statistics,
           "what each head looks at over the texts of --input: a table, and with --output .svg or "
           ".json")
      .Add("input", &options.input, "the input texts, one a line; -: standard input")
      .Add("references", &options.references,
           "the output texts, line by line; where they are not given the model translates");
  return fields;
}

[[noreturn]] void RefuseUse(const std::string& message) { throw Error(ErrorKind::kUsage, message); }

void CheckOutput(const AttentionOptions& options) {
  if (options.output.empty()) {
    if (options.statistics) return;
    RefuseUse("--output is missing: a file name that ends in .svg, .html or .json");
  }
  const std::string suffix = std::filesystem::path(options.output).extension().string();
  if (suffix != ".svg" && suffix != ".json" && (options.statistics || suffix != ".html")) {
    RefuseUse(fmt::format("--output is '{}', expected a file name that ends in {}", options.output,
                          options.statistics ? ".svg or .json" : ".svg, .html or .json"));
  }
}

void CheckOptions(const AttentionOptions& options) {
  CheckOutput(options);
  const auto check = [&](const std::string& value, const char* name, bool of_statistics) {
    if (value.empty() || options.statistics == of_statistics) return;
    RefuseUse(fmt::format("{} is {} --statistics", name, of_statistics ? "for" : "not for"));
  };
  check(options.input, "--input", true);
  check(options.references, "--references", true);
  check(options.source, "--source", false);
  check(options.picture, "--picture", false);
  check(options.target, "--target", false);
  const bool missing = options.statistics && options.input.empty();
  if (missing) RefuseUse("--statistics needs --input, the texts");
}

// What is still to come gets nothing.
void FillRows(AttentionWeights* weights) {
  for (auto& heads : *weights) {
    for (auto& rows : heads) {
      for (auto& row : rows) row.resize(rows.size());
    }
  }
}

bool Recurs(const ModelConfig& config) {
  return config.decoder && config.decoder->recurrence != Recurrence::kNone;
}

AttentionView ViewOfOne(std::string text, const char* kind, const std::vector<std::string>& pieces,
                        const char* query_title, AttentionWeights weights) {
  return {std::move(text),
          "",
          {{kind, "Self-attention", query_title, "token it looks at", pieces, pieces,
            std::move(weights)}}};
}

// Of an encoder alone.
AttentionView ViewOfEncoder(const LoadedModel& loaded, const std::string& text) {
  EncoderAttention found = AttentionOfEncoder(loaded, text);
  std::vector<std::string> pieces;
  for (const int32_t id : found.ids) pieces.push_back(loaded.source().Piece(id));
  return ViewOfOne(RepairUtf8(text), kKindNames[0], pieces, "token", std::move(found.weights));
}

// Of a decoder alone.
AttentionView ViewOfText(const LoadedModel& loaded, const std::string& text) {
  const Vocabulary& vocabulary = loaded.target();
  const std::vector<int32_t> ids = EncodeText(vocabulary, text);
  AttentionWeights weights = AttentionOfText(loaded.weights, ids);
  FillRows(&weights);
  const std::vector<std::string> read =
      LabelsOf(loaded.config(), {vocabulary, {}}, {vocabulary, ids}).read;
  return ViewOfOne(DecodeText(vocabulary, ids), kKindNames[1], read, "token just read",
                   std::move(weights));
}

// ViewedTexts of one language or of two; without targets the model translates.
struct ViewedTexts {
  std::vector<std::string> sources, targets;
};

// What both sides are in ids, in which placeholders stand for what is protected.
struct ViewedIds {
  std::vector<std::vector<int32_t>> sources, targets;
  std::vector<std::string> outputs;  // the targets' texts
};

ViewedIds IdsOf(const std::shared_ptr<const LoadedModel>& loaded, ViewedTexts texts, int threads) {
  const auto &source = loaded->source_vocabulary, &target = loaded->target_vocabulary;
  const Protection protection(loaded->model().tokenization, *source, *target, /*on=*/true);
  ViewedIds ids;
  for (size_t i = 0; i < texts.sources.size(); ++i) {
    if (texts.targets.empty()) {
      ids.sources.push_back(source->Encode(protection.Mask(texts.sources[i]).text));
      continue;
    }
    ids.outputs.push_back(RepairUtf8(texts.targets[i]));
    protection.MaskPair(&texts.sources[i], &texts.targets[i]);
    ids.sources.push_back(source->Encode(texts.sources[i]));
    ids.targets.push_back(target->Encode(texts.targets[i]));
  }
  if (!texts.targets.empty()) return ids;
  const Translator translator(loaded, {.threads = threads});
  for (const auto& found : translator.TranslateIds(ids.sources)) {
    const Hypothesis& best = found.hypotheses.at(0);
    ids.targets.push_back(best.ids);
    ids.outputs.push_back(best.text.empty() ? target->Decode(best.ids) : best.text);
  }
  return ids;
}

std::vector<AttentionView> ViewsOfPairs(const std::shared_ptr<const LoadedModel>& loaded,
                                        const ViewedTexts& texts, int threads) {
  const Vocabulary &source = loaded->source(), &target = loaded->target();
  const ViewedIds ids = IdsOf(loaded, texts, threads);
  ScoreOptions score_options;
  score_options.attention = true;
  std::vector<PairScore> scores =
      Scorer(loaded, threads).ScoreIds(ids.sources, ids.targets, score_options);
  std::vector<AttentionView> views;
  for (size_t i = 0; i < scores.size(); ++i) {
    PairScore& score = scores[i];
    FillRows(&score.decoder_self);
    const auto [keys, read, written] =
        LabelsOf(loaded->config(), {source, ids.sources[i]}, {target, ids.targets[i]});
    AttentionView& view = views.emplace_back(source.Decode(ids.sources[i]), ids.outputs[i]);
    view.kinds = {{"encoder", "Encoder self-attention", "source token", "source token it looks at",
                   keys, keys, std::move(score.encoder_self)},
                  {"decoder", "Decoder self-attention", "target token just read",
                   "target token it looks at", read, read, std::move(score.decoder_self)},
                  {"cross", "Cross-attention", "target token being written",
                   "source token it looks at", written, keys, std::move(score.cross)}};
    if (Recurs(loaded->config())) view.kinds.erase(view.kinds.begin() + 1);
  }
  return views;
}

std::vector<AttentionView> ViewsOf(const std::shared_ptr<const LoadedModel>& loaded,
                                   const ViewedTexts& texts, int threads) {
  const ModelConfig& config = loaded->config();
  if (config.encoder && config.decoder) return ViewsOfPairs(loaded, texts, threads);
  std::vector<AttentionView> views;
  for (const std::string& text : texts.sources)
    views.push_back(config.decoder ? ViewOfText(*loaded, text) : ViewOfEncoder(*loaded, text));
  return views;
}

// The figures of the texts; their table goes to standard output.
std::string Statistics(const std::shared_ptr<const LoadedModel>& loaded,
                       const AttentionOptions& options, const CommonOptions& common) {
  std::vector<std::string> files = {options.input};
  if (!options.references.empty()) files.push_back(options.references);
  for (std::string& file : files)
    if (file != "-") file = common.DataPath(file);
  LineWindows lines(files, /*terminal=*/false, common.ThreadCount());
  AttentionStatistics statistics;
  constexpr size_t kTexts = 64;  // whose weights are held at once
  while (lines.Next()) {
    const auto& sources = lines.lines(0);
    for (size_t begin = 0; begin < sources.size(); begin += kTexts) {
      const size_t end = std::min(begin + kTexts, sources.size());
      const auto part = [&](size_t file) {
        const auto first = lines.lines(file).begin();
        return std::vector<std::string>(first + static_cast<std::ptrdiff_t>(begin),
                                        first + static_cast<std::ptrdiff_t>(end));
      };
      const ViewedTexts texts{part(0), files.size() > 1 ? part(1) : std::vector<std::string>()};
      for (const AttentionView& view : ViewsOf(loaded, texts, common.ThreadCount()))
        statistics.Add(view);
    }
  }
  lines.ReportMalformed(common.MakeLog());
  if (statistics.texts() == 0)
    throw Error(ErrorKind::kInput, fmt::format("'{}' has no line", options.input));
  fmt::print("{}", StatisticsToText(statistics));
  return options.output.ends_with(".json") ? StatisticsToJson(statistics).dump(1) + "\n"
                                           : StatisticsToSvg(statistics);
}

std::string DrawView(const AttentionView& view, const AttentionOptions& options) {
  const std::string kind = kKindNames[static_cast<size_t>(options.kind)];
  if (options.output.ends_with(".json")) return AttentionToJson(view).dump() + "\n";
  return options.output.ends_with(".html") ? AttentionToHtml(view, kind, options.layer)
                                           : AttentionToSvg(view, kind, options.layer);
}

// Over the picture, with the likeliest classes.
std::string DrawPicture(const std::shared_ptr<const LoadedModel>& loaded,
                        const AttentionOptions& options, const CommonOptions& common) {
  constexpr size_t kToldClasses = 3;
  const std::filesystem::path path = common.DataPath(options.picture);
  PictureView view{.name = path.filename().string(),
                   .told = "",
                   .picture = ReadFitted(path, *loaded->config().patches),
                   .attention = {}};
  const Classifier classifier(loaded, /*threads=*/1);
  const Classification found = classifier.ClassifyPixels({&view.picture.pixels, 1})[0];
  for (const ClassProbability& each : LikeliestClasses(found, kToldClasses)) {
    view.told += fmt::format("{}{} {:.1f} %", view.told.empty() ? "" : ", ", each.label,
                             100 * each.probability);
  }
  view.attention =
      PictureAttentionOf(AttentionOfPicture(*loaded, view.picture.pixels), loaded->config());
  if (options.output.ends_with(".json")) return Dump(PictureViewToJson(view)) + "\n";
  return options.output.ends_with(".html") ? PictureViewToHtml(view, options.layer)
                                           : PictureViewToSvg(view, options.layer);
}

// Over words and picture, with the graph around the links.
std::string DrawItem(const std::shared_ptr<const LoadedModel>& loaded,
                     const AttentionOptions& options, const CommonOptions& common) {
  const ItemView view = ViewOfItem(loaded, common.DataPath(options.file), options.item);
  if (options.output.ends_with(".svg")) return ItemViewToSvg(view);
  return options.output.ends_with(".json") ? Dump(ItemViewToJson(view)) + "\n"
                                           : ItemViewToHtml(view, options.layer);
}

// Over what a model of items, pictures or sound reads.
std::string DrawMedia(const std::shared_ptr<const LoadedModel>& loaded,
                      const AttentionOptions& options, const CommonOptions& common) {
  if (loaded->config().fusion) return DrawItem(loaded, options, common);
  if (loaded->config().patches) return DrawPicture(loaded, options, common);
  return DrawRecording(loaded, common.DataPath(options.file), common.ThreadCount(), options.output,
                       options.segment, options.layer);
}

// Throws Error(kUsage) for what a model of items has no use for.
void CheckReadsItems(const AttentionOptions& options, bool source) {
  if (options.statistics) RefuseUse("--statistics is for models of text");
  if (source || !options.picture.empty())
    RefuseUse("the model reads items; give a file of them in place of --source and --picture");
  if (options.file.empty()) RefuseUse("FILE is missing: JSON lines of items");
  if (options.layer > 0 && options.output.ends_with(".svg"))
    RefuseUse("--layer is for an item's page; its .svg shows all layers together");
}

// The same of a model of sound.
void CheckReadsSound(const AttentionOptions& options, bool source) {
  if (options.statistics) RefuseUse("--statistics is for models of text");
  if (source || !options.target.empty() || !options.picture.empty())
    RefuseUse("the model reads sound; give a recording alone");
  if (options.file.empty()) RefuseUse("FILE is missing: a recording");
  if (options.kind != KindOption::kCross) RefuseUse("of a recording --kind is cross");
}

// The same of any model.
void CheckReads(const ModelConfig& config, const AttentionOptions& options, bool source) {
  if (config.fusion) return CheckReadsItems(options, source);
  if (config.frames) return CheckReadsSound(options, source);
  if (!options.file.empty()) {
    RefuseUse(config.patches ? "the model reads pictures; give the file as --picture"
                             : "the model reads text; give --source in place of the file");
  }
  if (!config.patches) {
    if (!options.picture.empty())
      RefuseUse("the model reads text; give --source in place of --picture");
    if (!options.statistics && !source) RefuseUse("--source is missing");
    return;
  }
  if (options.statistics) RefuseUse("--statistics is for models of text");
  if (source) RefuseUse("the model reads pictures; give --picture in place of --source");
  if (options.picture.empty()) RefuseUse("--picture is missing");
}

// Throws Error(kUsage) for a given option that what is written has no use for.
void CheckUsed(const ModelConfig& config, const AttentionOptions& options,
               const CommandLine& command_line) {
  const auto check = [&](const char* name, bool used, const char* why) {
    if (!used && command_line.IsSet(name)) RefuseUse(fmt::format("--{} is {}", name, why));
  };
  for (const char* name : {"kind", "layer"}) {
    check(name, !options.statistics, "not for --statistics, which is of all");
    check(name, !options.output.ends_with(".json"), "not for .json, which has the numbers of all");
  }
  check("item", config.fusion.has_value(), "for models of fusion");
  check("segment", config.frames.has_value(), "for models of transcription");
  check("kind", !config.fusion && !config.patches, "not for models of pictures or of fusion");
}

// What is not said follows from the model's stacks.
void ChooseKind(const ModelConfig& config, bool given, KindOption* kind) {
  if (!given) {
    *kind = !config.decoder   ? KindOption::kEncoder
            : !config.encoder ? KindOption::kDecoder
                              : KindOption::kCross;
  }
  if (*kind == KindOption::kDecoder && Recurs(config)) {
    throw Error(ErrorKind::kUsage,
                "the model's decoder has a recurrence in place of self-attention, which can't be "
                "drawn; expected another kind");
  }
}

int WriteView(const std::string& text, const AttentionOptions& options,
              const CommonOptions& common) {
  if (options.output.empty()) return 0;
  WriteFileAtomically(options.output, text);
  common.MakeLog()(LogLevel::kInfo, fmt::format("wrote {}", options.output));
  return 0;
}

}  // namespace

int RunAttention(const std::vector<std::string>& arguments) {
  CommonOptions common;
  AttentionOptions options;
  CommandLine command_line(
      "attention", "show what the model looks at, as a picture or numbers",
      "attend attention --model model --source 'A dog runs.' --output attention.html\n"
      "attend attention --model model --source 'A dog runs.' --target 'Ein Hund rennt.' --layer 2 "
      "--kind encoder --output attention.svg\n"
      "attend attention --model model --picture shoe.png --output attention.svg\n"
      "attend attention --model model speech.wav --output attention.html\n"
      "attend attention --model model items.jsonl --item 3 --output attention.html\n"
      "attend attention --model model --statistics --input valid.en --output heads.svg");
  command_line
      .Positional(
          "FILE", &options.file,
          "of a model of transcription: a recording, whose spectrogram is drawn; of a model "
          "of fusion: JSON lines of id, text, picture (a path) and links",
          /*required=*/false)
      .Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet", "data_dir"}))
      .Required({"model"});
  if (!command_line.Parse(arguments)) return 0;
  CheckOptions(options);
  const auto model = WithWeights(LoadModelWith(options.model, options.adapter), options.type);
  const bool has_target = command_line.IsSet("target") || !options.references.empty();
  const bool encoder = model->config.encoder.has_value(),
             decoder = model->config.decoder.has_value();
  if (has_target && !(encoder && decoder)) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("a model of task {} reads no target; leave out --target and --references",
                    model->config.task));
  }
  CheckReads(model->config, options, command_line.IsSet("source"));
  CheckUsed(model->config, options, command_line);
  if (!options.statistics) ChooseKind(model->config, command_line.IsSet("kind"), &options.kind);
  const auto loaded = Load(model);
  if (model->config.fusion || model->config.frames || model->config.patches)
    return WriteView(DrawMedia(loaded, options, common), options, common);
  if (loaded->source_vocabulary == nullptr && loaded->target_vocabulary == nullptr)
    RefuseUse(fmt::format("'{}' has no vocabulary, which the text needs", options.model));
  const ViewedTexts texts{{options.source},
                          has_target ? std::vector{options.target} : std::vector<std::string>()};
  const std::string text =
      options.statistics ? Statistics(loaded, options, common)
                         : DrawView(ViewsOf(loaded, texts, common.ThreadCount()).at(0), options);
  return WriteView(text, options, common);
}

}  // namespace attend
