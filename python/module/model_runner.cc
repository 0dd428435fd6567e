#include "python/module/model_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "attend/error.h"
#include "base/thread_pool.h"
#include "model/quantize.h"
#include "tasks/encoder_attention.h"
#include "tasks/language_model/text_attention.h"
#include "tasks/loaded_model.h"
#include "tasks/task_names.h"
#include "tasks/translation/matched_text.h"
#include "tasks/translation/protection.h"
#include "tasks/translation/translation_options.h"
#include "text/newlines.h"

namespace attend {
namespace {

TranslatorOptions WithThreads(const RunnerOptions& options) {
  TranslatorOptions all = options.translator;
  all.threads = static_cast<int>(options.loading.threads);
  return all;
}

// For models of the task; "" where it is not known.
std::string_view ClassOf(const ModelConfig& config) {
  const auto* name = std::ranges::find(kTaskNames, config.task, &TaskName::task);
  return name == std::end(kTaskNames) ? "" : name->python_class;
}

DenseAttention Dense(const AttentionWeights& weights) {
  DenseAttention dense;
  if (weights.empty()) return dense;
  const auto& head = weights[0][0];
  dense.shape = {weights.size(), weights[0].size(), head.size(), head.back().size()};
  const size_t keys = dense.shape[3];
  dense.weights.reserve(dense.shape[0] * dense.shape[1] * dense.shape[2] * keys);
  for (const auto& layer : weights) {
    for (const auto& rows : layer) {
      for (const std::vector<float>& row : rows) {
        dense.weights.insert(dense.weights.end(), row.begin(), row.end());
        dense.weights.resize(dense.weights.size() + keys - row.size());
      }
    }
  }
  return dense;
}

}  // namespace

std::shared_ptr<const LoadedModel> LoadWith(const LoadingOptions& options) {
  return Load(options.path.string(),
              {.type = options.type, .instruction_set = {}, .adapter = options.adapter});
}

std::shared_ptr<const LoadedModel> LoadFor(std::string_view name, const LoadingOptions& options) {
  auto loaded = LoadWith(options);
  const ModelConfig& config = loaded->config();
  CheckClass(config, name,
             name == "Encoder" ? config.encoder && !config.decoder : name == ClassOf(config));
  return loaded;
}

void CheckClass(const ModelConfig& config, std::string_view name, bool fits) {
  if (fits) return;
  const std::string_view right = ClassOf(config);
  throw Error(
      ErrorKind::kUsage,
      fmt::format("the model's task is {}, which attend.{} is not for{}", config.task, name,
                  right.empty() ? "" : fmt::format("; use attend.{} or attend.load", right)));
}

FieldList Fields(LoadingOptions& options) {
  FieldList fields;
  fields
      .Add("threads", &options.threads, 0, 4096,
           "number of threads; 0: one for each processor, or what the container's CPU quota allows")
      .Nest("", TypeField(&options.type))
      .Nest("", AdapterField(&options.adapter));
  return fields;
}

std::string Repr(const char* name, const LoadedModel& loaded, const LoadingOptions& options) {
  const int64_t threads = options.threads > 0 ? options.threads : DefaultThreads();
  return fmt::format("{}('{}', {}, {} thread{})", name, options.path.string(),
                     IsInt8(loaded.model()) ? "int8" : "f32", threads, threads == 1 ? "" : "s");
}

FieldList Fields(RunnerOptions& options) {
  FieldList fields;
  fields.Nest("", Fields(options.loading))
      .Nest("", Fields(options.translator).Select({"protect", "shortlist", "estimator"}));
  return fields;
}

FieldList Fields(TextOptions& options) {
  FieldList fields;
  fields.Nest("", Fields(options.translation))
      .Nest("", Fields(options.lines))
      .Nest("", MemoryFields(options.lines));
  return fields;
}

ModelRunner::ModelRunner(std::shared_ptr<const LoadedModel> loaded, const RunnerOptions& options)
    : loaded_(std::move(loaded)),
      loading_(options.loading),
      translator_(loaded_, WithThreads(options)) {}

ModelRunner::ModelRunner(std::vector<std::shared_ptr<const LoadedModel>> models,
                         std::vector<double> weights, const RunnerOptions& options)
    : loaded_(models.at(0)),
      models_(models.size()),
      loading_(options.loading),
      translator_(std::move(models), std::move(weights), WithThreads(options)) {}

const Scorer& ModelRunner::scorer() const {
  if (models_ > 1) {
    throw Error(ErrorKind::kUsage,
                "several models translate together here, and given texts are "
                "scored by one; load it alone");
  }
  const std::lock_guard lock(mutex_);
  if (!scorer_) scorer_ = std::make_unique<Scorer>(loaded_, static_cast<int>(loading_.threads));
  return *scorer_;
}

std::vector<Translation> ModelRunner::Translate(
    std::span<const std::string> texts, int64_t first, const TextOptions& options,
    std::span<const std::string> target_prefixes) const {
  LineOptions lines = options.lines;
  lines.reads_matches = loaded_->source_vocabulary && ReadsMatches(*loaded_->source_vocabulary);
  LineBatch batch(&translator_, loaded_->model(), lines);
  for (size_t i = 0; i < texts.size(); ++i) {
    batch.Add(texts[i], fmt::format("text {}", first++),
              target_prefixes.empty() ? "" : target_prefixes[i]);
  }
  return batch.Translate(options.translation);
}

PairAttention ModelRunner::Attention(const std::string& source,
                                     const std::optional<std::string>& target) const {
  if (!loaded_->source_vocabulary || !loaded_->config().encoder) {
    throw Error(ErrorKind::kUsage,
                "the model has no vocabulary or no encoder, expected a translation model");
  }
  const Vocabulary &source_vocabulary = loaded_->source(), &target_vocabulary = loaded_->target();
  const Protection protection(loaded_->model().tokenization, source_vocabulary, target_vocabulary,
                              /*on=*/true);
  std::string source_text = source, target_text = target.value_or("");
  if (target) {
    protection.MaskPair(&source_text, &target_text);
  } else {
    source_text = protection.Mask(source_text).text;
  }
  const std::vector<std::vector<int32_t>> sources = {source_vocabulary.Encode(source_text)};
  std::vector<std::vector<int32_t>> targets;
  if (target) {
    targets = {target_vocabulary.Encode(target_text)};
  } else {
    targets = {translator_.TranslateIds(sources).at(0).hypotheses.at(0).ids};
  }
  ScoreOptions options;
  options.attention = true;
  const PairScore score = scorer().ScoreIds(sources, targets, options).at(0);
  return {.target = target ? *target : target_vocabulary.Decode(targets[0]),
          .labels = LabelsOf(loaded_->config(), {source_vocabulary, sources[0]},
                             {target_vocabulary, targets[0]}),
          .encoder = Dense(score.encoder_self),
          .decoder = Dense(score.decoder_self),
          .cross = Dense(score.cross)};
}

TextAttention AttentionOf(const LoadedModel& loaded, const std::string& text) {
  const bool encodes = loaded.config().encoder.has_value();
  const Vocabulary& vocabulary = encodes ? loaded.source() : loaded.target();
  EncoderAttention found;
  if (encodes) {
    found = AttentionOfEncoder(loaded, text);
  } else {
    found.ids = EncodeText(vocabulary, text);
    found.weights = AttentionOfText(loaded.weights, found.ids);
    found.ids.insert(found.ids.begin(), static_cast<int32_t>(vocabulary.special_ids().bos));
  }
  TextAttention attention{.pieces = {}, .weights = Dense(found.weights)};
  for (const int32_t id : found.ids) attention.pieces.push_back(vocabulary.Piece(id));
  return attention;
}

}  // namespace attend
