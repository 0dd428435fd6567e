#include "python/module/model_runner.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "base/thread_pool.h"
#include "model/model_directory.h"
#include "model/quantize.h"
#include "tasks/translation/protection.h"
#include "tasks/translation/translation_options.h"

namespace attend {
namespace {

TranslatorOptions WithThreads(const RunnerOptions& options) {
  TranslatorOptions all = options.translator;
  all.threads = static_cast<int>(options.threads);
  return all;
}

std::shared_ptr<const Vocabulary> MakeVocabulary(const std::string& bytes, const char* where) {
  return bytes.empty() ? nullptr : Vocabulary::FromBytes(bytes, where);
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

FieldList Fields(RunnerOptions& options) {
  FieldList fields;
  fields
      .Add("threads", &options.threads, 0, 4096,
           "number of threads; 0: one for each processor, or what the container's CPU quota allows")
      .Nest("", Fields(options.translator));
  return fields;
}

FieldList Fields(TextOptions& options) {
  FieldList fields;
  fields.Nest("", Fields(options.translation)).Nest("", Fields(options.lines));
  return fields;
}

ModelRunner::ModelRunner(const std::filesystem::path& directory, const RunnerOptions& options)
    : model_(WithWeights(LoadModel(directory), options.translator.type)),
      threads_(static_cast<int>(options.threads)),
      translator_(model_, WithThreads(options)),
      source_(MakeVocabulary(model_->source_vocabulary, "the source vocabulary")),
      target_(model_->target_vocabulary == model_->source_vocabulary
                  ? source_
                  : MakeVocabulary(model_->target_vocabulary, "the target vocabulary")) {}

const Scorer& ModelRunner::scorer() const {
  const std::lock_guard lock(mutex_);
  if (!scorer_) scorer_ = std::make_unique<Scorer>(model_, threads_);
  return *scorer_;
}

std::vector<Translation> ModelRunner::Translate(std::span<const std::string> texts, int64_t first,
                                                const TextOptions& options) const {
  LineBatch batch(&translator_, *model_, options.lines);
  for (const std::string& text : texts) batch.Add(text, fmt::format("text {}", first++));
  return batch.Translate(options.translation);
}

PairAttention ModelRunner::Attention(const std::string& source,
                                     const std::optional<std::string>& target) const {
  if (!source_ || !model_->config.encoder) {
    throw Error(ErrorKind::kUsage,
                "the model has no vocabulary or no encoder, expected a translation model");
  }
  const Protection protection(model_->tokenization, *source_, *target_, /*on=*/true);
  std::string source_text = source, target_text = target.value_or("");
  if (target) {
    protection.MaskPair(&source_text, &target_text);
  } else {
    source_text = protection.Mask(source_text).text;
  }
  const std::vector<std::vector<int32_t>> sources = {source_->Encode(source_text)};
  std::vector<std::vector<int32_t>> targets;
  if (target) {
    targets = {target_->Encode(target_text)};
  } else {
    targets = {translator_.TranslateIds(sources).at(0).hypotheses.at(0).ids};
  }
  ScoreOptions options;
  options.attention = true;
  const PairScore score = scorer().ScoreIds(sources, targets, options).at(0);
  return {.target = target ? *target : target_->Decode(targets[0]),
          .labels = LabelsOf({*source_, sources[0]}, {*target_, targets[0]}),
          .encoder = Dense(score.encoder_self),
          .decoder = Dense(score.decoder_self),
          .cross = Dense(score.cross)};
}

}  // namespace attend
