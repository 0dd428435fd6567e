#include "train/train_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "attend/error.h"
#include "metrics/metric_fields.h"
#include "model/config_fields.h"
#include "text/utf8.h"

namespace attend {
namespace {

constexpr double kMany = 1e15;
constexpr double kMaxCount = 1e6;

FieldList CorpusFields(CorpusOptions& options) {
  FieldList fields;
  fields.Group("Text")
      .Add("train_source", &options.train_source,
           "source text to train on, one sentence a line; several files form one corpus", kPath)
      .Add("train_target", &options.train_target, "its translation, line by line", kPath)
      .Add("train_weights", &options.train_weights, 1e-6, 1000,
           "how often an epoch uses each file, such as 1, 0.25 or 3; below 1, a part of the lines "
           "is left out",
           kIdentity)
      .Add("stream", &options.stream,
           "read the training text from disk during training, in bounded memory; train_weights, "
           "bpe_dropout and sampling_alpha turn this on",
           kIdentity)
      .Add("shuffle_buffer", &options.shuffle_buffer, 1, 1e9,
           "number of pairs of streamed text that are shuffled together", kIdentity)
      .Add("bpe_dropout", &options.bpe_dropout, 0, 1,
           "BPE-dropout: probability of skipping a merge when training text is tokenized (0.1 is "
           "usual); for BPE vocabularies; 0: off",
           kIdentity)
      .Add("sampling_alpha", &options.sampling_alpha, 0, 1000,
           "subword sampling: exponent of the probabilities of tokenizations that each epoch draws "
           "(0.1 to 0.5 is usual); for unigram vocabularies; 0: off",
           kIdentity)
      .Add("case_noise", &options.case_noise, 0, 0.5,
           "with case = factor: share of training pairs that are put into capitals, and the same "
           "share into title case, so that the model learns to translate such text; 0: none",
           kIdentity)
      .Add("valid_source", &options.valid_source, "source text to validate on", kPath)
      .Add("valid_target", &options.valid_target, "its translation", kPath)
      .Add("test_source", &options.test_source, "source text to translate and score at the end",
           kPath)
      .Add("test_target", &options.test_target, "its translation", kPath)
      .Nest("", Fields(options.protection), kIdentity)
      .Add("protect_examples", &options.protect_examples, 0, 1,
           "with protect: share of training pairs that get extra placeholders, in place of words "
           "that both sides share and at both ends, to teach copying",
           kIdentity)
      .Nest("", Fields(options.filters), kIdentity)
      .Group("Vocabulary")
      .Add("vocab", &options.vocab, "vocabulary file of both sides", kPath)
      .Add("source_vocab", &options.source_vocab, "vocabulary file of the source side alone", kPath)
      .Add("target_vocab", &options.target_vocab, "vocabulary file of the target side alone", kPath)
      .Add("joint_vocab", &options.joint_vocab,
           "make one vocabulary for both sides, not one for each", kIdentity | kMaking)
      .Nest("", Fields(options.vocabulary, "vocab_"), kIdentity);
  return fields;
}

FieldList OptimizationFields(OptimizationOptions& options) {
  FieldList fields;
  fields.Group("Dropout and loss")
      .Add("dropout", &options.dropout, 0, 0.999,
           "of sub-layer outputs and embeddings (the paper's P_drop)")
      .Add("attention_dropout", &options.attention_dropout, 0, 0.999, "of attention weights")
      .Add("activation_dropout", &options.activation_dropout, 0, 0.999,
           "inside the feed-forward layer")
      .Add("label_smoothing", &options.label_smoothing, 0, 0.999, "the paper's epsilon_ls")
      .Add("label_smoothing_mass", &options.label_smoothing_mass, {"all", "wrong"},
           "spread it over all words, or over the wrong ones")
      .Add("r_drop", &options.r_drop, 0, 1000,
           "R-Drop's alpha: weight of the divergence between two passes with different dropout; "
           "takes twice the time; 0: one pass")
      .Group("Batches")
      .Add("batch_tokens", &options.batch_tokens, 1, kMany,
           "maximum size of a batch: sentences times the longest side, padding included", kIdentity)
      .Add("max_sentences", &options.max_sentences, 0, kMany,
           "maximum number of sentences in a batch; 0: no limit", kIdentity)
      .Add("accumulate", &options.accumulate, 1, kMaxCount,
           "number of batches in one update (gradient accumulation)", kIdentity)
      .Group("Learning rate and optimizer")
      .Add("schedule", &options.schedule, {"noam", "inverse_sqrt", "cosine", "constant"},
           "learning rate over time")
      .Add("peak_learning_rate", &options.peak_learning_rate, 0, 1000,
           "learning rate at the end of the warm-up; for all schedules except noam")
      .Add("end_learning_rate", &options.end_learning_rate, 0, 1000,
           "learning rate at max_updates, where cosine ends")
      .Add("noam_scale", &options.noam_scale, 1e-6, 1e6, "factor of noam's learning rate")
      .Add("warmup_updates", &options.warmup_updates, 0, kMany,
           "number of updates of linear warm-up")
      .Add("adam_beta1", &options.adam_beta1, 0, 0.999999, "decay of the first moment")
      .Add("adam_beta2", &options.adam_beta2, 0, 0.999999, "decay of the second moment")
      .Add("adam_epsilon", &options.adam_epsilon, 1e-30, 1,
           "added to the root of the second moment")
      .Add("weight_decay", &options.weight_decay, 0, 1, "decoupled weight decay")
      .Add("clip_norm", &options.clip_norm, 0, kMany, "maximum norm of the gradient; 0: no limit")
      .Add("ema_decay", &options.ema_decay, 0, 0.9999999,
           "decay of a moving average of the weights, which is validated and exported; 0: off")
      .Add("shard_optimizer", &options.shard_optimizer,
           "divide Adam's moments and the moving average among the processes (ZeRO stage 1); "
           "results are the same")
      .Add("precision", &options.precision, {"f32", "bf16"},
           "number type of the inputs of matrix products, and on a GPU of their results; "
           "everything else stays f32")
      .Add("max_bad_updates", &options.max_bad_updates, 1, kMany,
           "stop after this many updates in a row with a loss or gradient that is not finite");
  return fields;
}

FieldList RunFields(RunOptions& options) {
  FieldList fields;
  fields.Group("Length of the run")
      .Add("max_updates", &options.max_updates, 1, kMany, "stop after this many updates")
      .Add("max_epochs", &options.max_epochs, 0, kMany, "stop after this many epochs; 0: no limit")
      .Add("max_target_tokens", &options.max_target_tokens, 0, kMany,
           "stop before more than this many target tokens are used; 0: no limit")
      .Group("Validation")
      .Add("validate_every", &options.validate_every, 1, kMany,
           "number of updates between validations")
      .Add("validate_translations", &options.validate_translations,
           "translate the validation text and score it too")
      .Group("Checkpoints and the model")
      .Add("checkpoint_every", &options.checkpoint_every, 1, kMany,
           "number of updates between checkpoints")
      .Add("report_every", &options.report_every, 1, kMany,
           "number of updates between progress lines and between TensorBoard's points")
      .Add("keep_last", &options.keep_last, 1, kMaxCount,
           "number of newest checkpoints to keep for resuming")
      .Add("keep_best", &options.keep_best, 0, kMaxCount, "number of best checkpoints to keep")
      .Group("Validation")
      .Add("early_stopping_metric", &options.early_stopping_metric, {"loss", "bleu", "chrf"},
           "metric that decides which checkpoint is best")
      .Add("early_stopping_patience", &options.early_stopping_patience, 0, kMany,
           "stop after this many validations without improvement; 0: never")
      .Group("Checkpoints and the model")
      .Add("average_last", &options.average_last, 1, kMaxCount,
           "average this many last checkpoints into the model")
      .Add("average_best", &options.average_best, 0, kMaxCount,
           "average this many best checkpoints into the model; 0: use average_last")
      .Group("Validation")
      .Add("beam_size", &options.beam_size, 1, 64, "beam size of validation and test")
      .Add("length_penalty", &options.length_penalty, 0, 10,
           "length penalty of validation and test")
      .Nest("", Fields(options.bleu).Select({"tokenize", "tokenize_model"}))
      .Group("Batches")
      .Add("worker_threads", &options.worker_threads, 1, 1000,
           "number of threads that prepare batches");
  return fields;
}

void Flatten(const Json& object, const std::string& prefix, std::map<std::string, Json>* values) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      Flatten(value, prefix + key + ".", values);
    } else {
      (*values)[prefix + key] = value;
    }
  }
}

[[noreturn]] void Refuse(const std::string& message) {
  throw Error(ErrorKind::kConfiguration, message);
}

void CheckPair(const std::vector<std::string>& source, const std::vector<std::string>& target,
               const std::string& name) {
  if (source.empty() == target.empty()) return;
  Refuse(fmt::format("{0}_{1} is given without {0}_{2}; give both", name,
                     source.empty() ? "target" : "source", source.empty() ? "source" : "target"));
}

// Text is read more than once, and standard input can't be.
void CheckFiles(const CorpusOptions& corpus) {
  const std::pair<const char*, const std::vector<std::string>*> lists[] = {
      {"train_source", &corpus.train_source}, {"train_target", &corpus.train_target},
      {"valid_source", &corpus.valid_source}, {"valid_target", &corpus.valid_target},
      {"test_source", &corpus.test_source},   {"test_target", &corpus.test_target}};
  for (const auto& [name, files] : lists) {
    if (std::find(files->begin(), files->end(), "-") == files->end()) continue;
    Refuse(
        fmt::format("{} is '-', expected a file: training reads its text more than once, which "
                    "standard input does not allow",
                    name));
  }
  for (size_t i = 0; i < 4; i += 2) {
    const auto& [source, sources] = lists[i];
    const auto& [target, targets] = lists[i + 1];
    if (sources->size() == targets->size()) continue;
    Refuse(fmt::format("{} names {} files but {} {}, expected as many", source, sources->size(),
                       target, targets->size()));
  }
}

void CheckVocabularyOptions(const CorpusOptions& corpus, bool init) {
  const bool separate = !corpus.source_vocab.empty() || !corpus.target_vocab.empty();
  const int ways = int{init} + int{!corpus.vocab.empty()} + int{separate};
  if (ways == 0 && corpus.vocabulary.size == 0) {
    Refuse(
        "no vocabulary: give vocab, or source_vocab and target_vocab, or vocab_size to make one, "
        "or init");
  }
  if (ways > 1) {
    Refuse(
        "more than one of vocab, source_vocab with target_vocab, and init is given, expected one "
        "vocabulary");
  }
  if (separate && (corpus.source_vocab.empty() || corpus.target_vocab.empty())) {
    Refuse(
        "source_vocab and target_vocab belong together; for one vocabulary on both sides use "
        "vocab");
  }
}

// The vocabulary's type decides which way of sampling there is.
void CheckSampling(const CorpusOptions& corpus, bool makes_vocabulary) {
  if (corpus.bpe_dropout > 0 && corpus.sampling_alpha > 0) {
    Refuse(
        "bpe_dropout and sampling_alpha exclude each other: the first is for a BPE vocabulary, "
        "the second for a unigram one");
  }
  if (!makes_vocabulary) return;  // the one that is given knows
  const VocabularyType type = corpus.vocabulary.type;
  if (type != VocabularyType::kBpe && corpus.bpe_dropout > 0) {
    Refuse("bpe_dropout is for BPE vocabularies; set vocab_type to bpe, or use sampling_alpha");
  }
  if (type != VocabularyType::kUnigram && corpus.sampling_alpha > 0) {
    Refuse(
        "sampling_alpha is for unigram vocabularies; set vocab_type to unigram, or use "
        "bpe_dropout");
  }
}

// What config.toml holds: what is recorded, and the model that a fine-tuned run begins with.
FieldList SavedFields(TrainOptions& options) {
  std::vector<std::string> names = RecordedFields(options).Names();
  if (!options.init.empty()) names.emplace_back("init");
  return Fields(options).Select(names);
}

// What is saved of a run is TOML and JSON.
void CheckTexts(TrainOptions options) {
  const FieldList fields = SavedFields(options);
  for (const Field& field : fields.fields()) {
    if (const std::string text = field.ValueText(); !IsValidUtf8(text))
      Refuse(fmt::format("{} is '{}', expected UTF-8", field.name, RepairUtf8(text)));
  }
}

}  // namespace

FieldList Fields(TrainOptions& options) {
  FieldList fields;
  fields.Nest("", CorpusFields(options.corpus))
      .Group("Model")
      .Add("preset", &options.preset,
           "model to start from: base, big, tiny or student; encoder.* and decoder.* change it",
           kNotCompared)
      .Nest("", Fields(options.model).Without(kDerived))
      .Nest("", OptimizationFields(options.optimization))
      .Nest("", RunFields(options.run))
      .Group("")
      .Add("seed", &options.seed, 0, kMany, "seed of initial weights, shuffling and dropout",
           kIdentity)
      .Add("output", &options.output, "directory for checkpoints, logs, report and model",
           kNotRecorded)
      .Add("init", &options.init,
           "model directory to fine-tune (relative to the working directory): the run starts from "
           "its weights and vocabulary",
           kNotRecorded)
      .Add("dry_run", &options.dry_run,
           "print counts, dropped pairs, memory, speed and estimated time, then stop without "
           "training",
           kNotRecorded)
      .Add("peak_flops", &options.peak_flops, 0, 1e20, kPeakFlopsHelp, kNotRecorded);
  return fields;
}

FieldList RecordedFields(TrainOptions& options) {
  return Fields(options).Without(kNotRecorded | (options.MakesVocabulary() ? 0 : kMaking));
}

std::string RecipeToml(TrainOptions& options) {
  std::string toml;
  const FieldList fields = SavedFields(options);
  for (const Field& field : fields.fields()) {
    std::string value = field.ValueText();
    if (value.empty()) continue;
    // A JSON string is a TOML string, and so for lists of them and of numbers.
    if (const auto* texts = std::get_if<std::vector<std::string>*>(&field.value)) {
      value = Json(**texts).dump();
    } else if (const auto* numbers = std::get_if<std::vector<double>*>(&field.value)) {
      value = Json(**numbers).dump();
    } else if (field.IsText() || std::holds_alternative<EnumField>(field.value)) {
      value = Json(value).dump();
    }
    toml += fmt::format("{} = {}\n", field.name, value);
  }
  return toml;
}

void CheckTrainOptions(const TrainOptions& options) {
  CheckTexts(options);
  const CorpusOptions& corpus = options.corpus;
  const OptimizationOptions& optimization = options.optimization;
  if (const size_t count = options.model.languages.size(); count != 0 && count != 2)
    Refuse(fmt::format("languages holds {}, expected two, the source first", count));
  if (corpus.train_source.empty() || corpus.train_target.empty())
    Refuse("train_source and train_target are needed");
  if (const size_t weights = corpus.train_weights.size();
      weights != 0 && weights != corpus.train_source.size()) {
    Refuse(
        fmt::format("train_weights holds {} numbers for {} files of train_source, expected one "
                    "for each",
                    weights, corpus.train_source.size()));
  }
  CheckPair(corpus.valid_source, corpus.valid_target, "valid");
  CheckPair(corpus.test_source, corpus.test_target, "test");
  CheckFiles(corpus);
  CheckVocabularyOptions(corpus, !options.init.empty());
  CheckSampling(corpus, options.MakesVocabulary());
  if (!corpus.protection.empty()) const SpanFinder checks_expressions(corpus.protection);
  if (options.output.empty() && !options.dry_run)
    Refuse("output is needed: the directory to train in");
  if (optimization.schedule != nn::ScheduleKind::kNoam && optimization.peak_learning_rate <= 0) {
    Refuse("peak_learning_rate is 0, expected more for this schedule (0.0005 to 0.003 is usual)");
  }
  const bool drops = optimization.dropout > 0 || optimization.attention_dropout > 0 ||
                     optimization.activation_dropout > 0;
  if (optimization.r_drop > 0 && !drops)
    Refuse("r_drop compares two passes with other dropout, but there is none; set dropout");
  const RunOptions& run = options.run;
  if (run.average_best > 0 && run.average_last > 1)
    Refuse("average_best and average_last exclude each other");
  if (!run.validate_translations && run.early_stopping_metric != EarlyStoppingMetric::kLoss) {
    Refuse("early_stopping_metric bleu or chrf needs validate_translations");
  }
  const bool needs_validation = run.average_best > 0 || run.early_stopping_patience > 0;
  if (needs_validation && corpus.valid_source.empty()) {
    Refuse("early_stopping_patience and average_best need valid_source and valid_target");
  }
  if (needs_validation && run.validate_every > run.max_updates) {
    Refuse(
        fmt::format("validate_every is {}, but training ends after max_updates ({}): "
                    "early_stopping_patience and average_best need a validation before",
                    run.validate_every, run.max_updates));
  }
}

BatchOptions BatchingOf(const TrainOptions& options, const Log& log) {
  return {{options.optimization.batch_tokens, options.optimization.max_sentences},
          static_cast<uint64_t>(options.seed),
          options.run.worker_threads,
          log,
          {}};
}

std::vector<OptionDifference> DifferentOptions(const Json& before, const Json& now) {
  TrainOptions options;
  const FieldList fields = Fields(options);
  std::map<std::string, Json> old_values, new_values;
  Flatten(before, "", &old_values);
  Flatten(now, "", &new_values);
  std::vector<OptionDifference> differences;
  for (const auto& [name, value] : new_values) {
    const Field* field = fields.Find(name);
    // A path's files are compared by digest, a preset by the fields it sets.
    if (field != nullptr && field->Is(kPath | kNotCompared)) continue;
    const auto old = old_values.find(name);
    if (old != old_values.end() && old->second == value) continue;
    differences.push_back({name, old == old_values.end() ? "not there" : old->second.dump(),
                           value.dump(), field != nullptr && field->Is(kIdentity)});
  }
  return differences;
}

RunChanges CompareOptions(const Json& before, const Json& now) {
  RunChanges changes;
  for (const OptionDifference& each : DifferentOptions(before, now)) {
    (each.identity ? changes.forbidden : changes.applied)
        .push_back(fmt::format("{} was {}, now {}", each.name, each.before, each.now));
  }
  return changes;
}

}  // namespace attend
