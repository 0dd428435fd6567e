// `attend attention`: what looks at what, as a picture or as numbers.
#include <fmt/format.h>

#include <filesystem>

#include "attend/error.h"
#include "attend/scorer.h"
#include "attend/translator.h"
#include "attend/vocabulary.h"
#include "base/files.h"
#include "cli/attention_view/attention_view.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "model/quantize.h"
#include "tasks/attention_labels.h"
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
  std::string model, adapter, source, target, output;
  WeightType type = WeightType::kStored;
  KindOption kind = KindOption::kCross;
  int64_t layer = 0;
};

FieldList Fields(AttentionOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "model directory")
      .Nest("", AdapterField(&options.adapter))
      .Nest("", TypeField(&options.type))
      .Add("source", &options.source, "the input text, or the text of a model that reads one")
      .Add("target", &options.target, "the output text; where it is not given the model translates")
      .Add("output", &options.output,
           "file to write: .svg (one layer), .html (all), .json (numbers)")
      .Add("kind", &options.kind, {kKindNames[0], kKindNames[1], kKindNames[2]},
           "which attention the picture shows, or opens with; a language model has decoder alone, "
           "and a model without decoder encoder")
      .Add("layer", &options.layer, 0, 1000, "which layer, from 1; 0: the last");
  return fields;
}

void CheckOptions(const AttentionOptions& options) {
  const std::string suffix = std::filesystem::path(options.output).extension().string();
  if (suffix != ".svg" && suffix != ".html" && suffix != ".json") {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("--output is '{}', expected a file name that ends in .svg, .html or .json",
                    options.output));
  }
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

AttentionView ViewOf(const std::shared_ptr<const LoadedModel>& loaded,
                     const AttentionOptions& options, bool has_target, int threads) {
  const auto &source = loaded->source_vocabulary, &target = loaded->target_vocabulary;
  if (source == nullptr) {
    throw Error(ErrorKind::kUsage,
                fmt::format("'{}' has no vocabulary, which the text needs", options.model));
  }
  const Protection protection(loaded->model().tokenization, *source, *target, /*on=*/true);
  std::string source_text = options.source, target_text = options.target;
  if (has_target) {
    protection.MaskPair(&source_text, &target_text);
  } else {
    source_text = protection.Mask(source_text).text;
  }
  const std::vector<int32_t> source_ids = source->Encode(source_text);
  AttentionView view{source->Decode(source_ids), RepairUtf8(options.target), {}};
  std::vector<int32_t> target_ids;
  if (has_target) {
    target_ids = target->Encode(target_text);
  } else {
    const Translator translator(loaded, {.threads = threads});
    const Hypothesis best = translator.TranslateIds({{source_ids}}).at(0).hypotheses.at(0);
    target_ids = best.ids;
    view.target = best.text.empty() ? target->Decode(best.ids) : best.text;
  }
  const std::vector<std::vector<int32_t>> sources = {source_ids}, targets = {target_ids};
  ScoreOptions score_options;
  score_options.attention = true;
  PairScore score = Scorer(loaded, threads).ScoreIds(sources, targets, score_options).at(0);

  FillRows(&score.decoder_self);
  const auto [keys, read, written] =
      LabelsOf(loaded->config(), {*source, source_ids}, {*target, target_ids});
  view.kinds = {{"encoder", "Encoder self-attention", "source token", "source token it looks at",
                 keys, keys, std::move(score.encoder_self)},
                {"decoder", "Decoder self-attention", "target token just read",
                 "target token it looks at", read, read, std::move(score.decoder_self)},
                {"cross", "Cross-attention", "target token being written",
                 "source token it looks at", written, keys, std::move(score.cross)}};
  if (Recurs(loaded->config())) view.kinds.erase(view.kinds.begin() + 1);
  return view;
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

}  // namespace

int RunAttention(const std::vector<std::string>& arguments) {
  CommonOptions common;
  AttentionOptions options;
  CommandLine command_line(
      "attention", "show what the model looks at, as a picture or numbers",
      "attend attention --model model --source 'A dog runs.' --output attention.html\n"
      "attend attention --model model --source 'A dog runs.' --target 'Ein Hund rennt.' --layer 2 "
      "--kind encoder --output "
      "attention.svg");
  command_line.Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet"}))
      .Required({"model", "source", "output"});
  if (!command_line.Parse(arguments)) return 0;
  CheckOptions(options);
  const auto model = WithWeights(LoadModelWith(options.model, options.adapter), options.type);
  const bool has_target = command_line.IsSet("target");
  const bool encoder = model->config.encoder.has_value(),
             decoder = model->config.decoder.has_value();
  if (has_target && !(encoder && decoder)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("a model of task {} reads one text, the source; leave out the target",
                            model->config.task));
  }
  ChooseKind(model->config, command_line.IsSet("kind"), &options.kind);
  const auto loaded = Load(model);
  const AttentionView view = !decoder   ? ViewOfEncoder(*loaded, options.source)
                             : !encoder ? ViewOfText(*loaded, options.source)
                                        : ViewOf(loaded, options, has_target, common.ThreadCount());
  const std::string kind = kKindNames[static_cast<size_t>(options.kind)];
  const std::string suffix = std::filesystem::path(options.output).extension().string();
  std::string text;
  if (suffix == ".json") {
    text = AttentionToJson(view).dump() + "\n";
  } else if (suffix == ".html") {
    text = AttentionToHtml(view, kind, options.layer);
  } else {
    text = AttentionToSvg(view, kind, options.layer);
  }
  WriteFileAtomically(options.output, text);
  common.MakeLog()(LogLevel::kInfo, fmt::format("wrote {}", options.output));
  return 0;
}

}  // namespace attend
