#include "train/train_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "attend/error.h"
#include "model/config_fields.h"
#include "model/config_file.h"
#include "text/utf8.h"
#include "train/tasks/registry.h"

namespace attend {
namespace {

constexpr double kMany = 1e15;
constexpr double kMaxCount = 1e6;

// Recorded of a run that trains one.
FieldList AdapterFields(nn::AdapterShape& adapter) {
  const Traits traits = kIdentity | (adapter.any() ? 0 : kNotRecorded);
  FieldList fields;
  fields
      .Add("rank", &adapter.rank, 0, kMostAdapterRank,
           "train a low-rank adapter (LoRA) of this rank for the model that init names, and leave "
           "its weights as they are; 0: train the model itself",
           traits)
      .Add("alpha", &adapter.alpha, kLeastAdapterAlpha, kMostAdapterAlpha,
           "the product of an adapter's matrices counts alpha / rank times", traits)
      .Add("matrices", &adapter.matrices, {"query_value", "all"},
           "matrices that get an adapter: of queries and values in every attention, or all of the "
           "stacks' layers",
           traits);
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

FieldList RunFields(RunOptions& options, const std::vector<std::string>& metrics) {
  FieldList fields;
  fields.Group("Length of the run")
      .Add("max_updates", &options.max_updates, 1, kMany, "stop after this many updates")
      .Add("max_epochs", &options.max_epochs, 0, kMany, "stop after this many epochs; 0: no limit")
      .Add("max_target_tokens", &options.max_target_tokens, 0, kMany,
           "stop before more than this many target tokens are used; 0: no limit")
      .Group("Validation")
      .Add("validate_every", &options.validate_every, 1, kMany,
           "number of updates between validations")
      .Group("Checkpoints and the model")
      .Add("checkpoint_every", &options.checkpoint_every, 1, kMany,
           "number of updates between checkpoints")
      .Add("report_every", &options.report_every, 1, kMany,
           "number of updates between progress lines and between TensorBoard's points")
      .Add("keep_last", &options.keep_last, 1, kMaxCount,
           "number of newest checkpoints to keep for resuming")
      .Add("keep_best", &options.keep_best, 0, kMaxCount, "number of best checkpoints to keep")
      .Group("Validation")
      .Add("early_stopping_metric", &options.early_stopping_metric, metrics,
           "metric that decides which checkpoint is best")
      .Add("early_stopping_patience", &options.early_stopping_patience, 0, kMany,
           "stop after this many validations without improvement; 0: never")
      .Group("Checkpoints and the model")
      .Add("average_last", &options.average_last, 1, kMaxCount,
           "average this many last checkpoints into the model")
      .Add("average_best", &options.average_best, 0, kMaxCount,
           "average this many best checkpoints into the model; 0: use average_last")
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

// The defaults of the recorded options' task.
TrainOptions DefaultsLike(const Json& recorded) {
  const Json task = recorded.value("task", Json());
  return TrainOptions(task.is_string() ? task.get<std::string>() : ModelConfig().task);
}

[[noreturn]] void Refuse(const std::string& message) {
  throw Error(ErrorKind::kConfiguration, message);
}

// The preset's stacks that the task's models have.
ModelConfig PresetFor(const TaskInfo& task, const std::string& preset) {
  ModelConfig model = PresetConfig(preset);
  model.task = task.name;
  const auto take = [&](bool needed, const char* name, std::optional<StackConfig>* stack) {
    if (!needed) {
      stack->reset();
    } else if (!*stack) {
      Refuse(fmt::format("preset {} has no {}, which task {} needs; choose another preset", preset,
                         name, task.name));
    }
  };
  if (model.patches && task.picture_preset.empty()) {
    Refuse(fmt::format("preset {} reads pictures, which task {} does not; choose another preset",
                       preset, task.name));
  }
  if (model.frames.has_value() != task.reads_sound) {
    Refuse(fmt::format("preset {} reads {}, and task {} reads {}; choose another preset", preset,
                       model.frames ? "sound" : "no sound", task.name,
                       task.reads_sound ? "sound" : "none"));
  }
  if (model.fusion.has_value() != task.reads_items) {
    Refuse(fmt::format("preset {} reads {}, and task {} reads {}; choose another preset", preset,
                       model.fusion ? "items" : "no items", task.name,
                       task.reads_items ? "items" : "none"));
  }
  take(task.encoder, "encoder", &model.encoder);
  take(task.decoder, "decoder", &model.decoder);
  return model;
}

// Options of a stack that the models have not.
void RefuseStack(const std::string& stack, const TaskInfo& task, FieldList* fields) {
  StackConfig any;
  for (const std::string& name : Fields(any).Names())
    fields->Replaced(stack + "." + name,
                     fmt::format("a model of task {} has no {}", task.name, stack));
}

// Options that other tasks have.
void RefuseOtherTasks(const TrainOptions& options, FieldList* fields) {
  std::map<std::string, std::vector<std::string>> tasks;  // of each such option
  for (const std::string& name : TaskNames()) {
    TrainOptions others = options;
    others.task = AnyTaskOptions(FindTask(name).make_options());
    for (const std::string& option : others.task->FieldsFor(others).Names())
      if (fields->Find(option) == nullptr) tasks[option].push_back(name);
  }
  for (const auto& [option, names] : tasks) {
    fields->Replaced(option, fmt::format("it is an option of task {}, and task is {}",
                                         fmt::join(names, " or "), options.model.task));
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

void CheckSchedule(const TrainOptions& options) {
  const nn::ScheduleKind kind = options.optimization.schedule;
  CheckDependents(
      options,
      {{"peak_learning_rate", kind != nn::ScheduleKind::kNoam, "another schedule than noam"},
       {"end_learning_rate", kind == nn::ScheduleKind::kCosine, "schedule = cosine"},
       {"noam_scale", kind == nn::ScheduleKind::kNoam, "schedule = noam"}});
}

}  // namespace

TrainOptions::TrainOptions(const std::string& task, const std::string& given)
    : preset(given.empty() ? FindTask(task).info.preset : given),
      model(PresetFor(FindTask(task).info, preset)),
      task(FindTask(task).make_options()) {}

FieldList Fields(TrainOptions& options) {
  const TaskInfo& task = FindTask(options.model.task).info;
  std::vector<std::string> metrics;
  for (const Figure& figure : task.validation) metrics.push_back(figure.name);
  FieldList fields;
  fields.Nest("", options.task->FieldsFor(options))
      .Group("Model")
      // Runs were recorded before there was more than one.
      .Add("task", &options.model.task, TaskNames(), "what the model learns",
           task.name == ModelConfig().task ? kNotRecorded : kIdentity)
      .Add("preset", &options.preset,
           "model to start from: base, big, tiny or student; decoders alone: gpt-char, gpt2-small; "
           "encoders alone: bert-tiny, bert-base; of pictures: vit-tiny, vit-base; of sound: "
           "speech-tiny, whisper-tiny; of items: fusion-tiny; of other architectures: lstm, "
           "convolution; encoder.*, decoder.*, patches.*, frames.* and fusion.* change it",
           kNotCompared)
      .Nest("", Fields(options.model).Without(kDerived))
      .Nest("adapter", AdapterFields(options.adapter))
      .Nest("", OptimizationFields(options.optimization))
      .Nest("", RunFields(options.run, metrics))
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
           "print counts, what is dropped, memory, speed and estimated time, then stop without "
           "training",
           kNotRecorded)
      .Add("peak_flops", &options.peak_flops, 0, 1e20, kPeakFlopsHelp, kNotRecorded);
  if (!options.model.encoder) RefuseStack("encoder", task, &fields);
  if (!options.model.decoder) RefuseStack("decoder", task, &fields);
  RefuseOtherTasks(options, &fields);
  return fields;
}

FieldList RecordedFields(TrainOptions& options) { return Fields(options).Without(kNotRecorded); }

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
    } else if (field.IsIntegers()) {
      value = fmt::format("[{}]", value);
    } else if (field.IsText() || std::holds_alternative<EnumField>(field.value)) {
      value = Json(value).dump();
    }
    toml += fmt::format("{} = {}\n", field.name, value);
  }
  return toml;
}

void CheckDependents(TrainOptions options, const std::vector<DependentOption>& dependents) {
  TrainOptions usual(options.model.task);
  const FieldList fields = Fields(options), defaults = Fields(usual);
  for (const DependentOption& each : dependents) {
    if (each.counts) continue;
    const std::string value = fields.Find(each.name)->ValueText();
    if (value == defaults.Find(each.name)->ValueText()) continue;
    Refuse(fmt::format("{} is {}, but it counts only with {}; leave it out, or set that", each.name,
                       value, each.needs));
  }
}

void CheckArchitecture(const TrainOptions& options) {
  const Architecture architecture = options.model.architecture;
  CheckDependents(options, {{"activation_dropout", architecture == Architecture::kTransformer,
                             "architecture = transformer"},
                            {"attention_dropout", architecture != Architecture::kConvolution,
                             "another architecture than convolution"}});
}

void CheckTrainOptions(const TrainOptions& options) {
  CheckTexts(options);
  options.task->Check(options);
  const OptimizationOptions& optimization = options.optimization;
  if (options.output.empty() && !options.dry_run)
    Refuse("output is needed: the directory to train in");
  if (optimization.schedule != nn::ScheduleKind::kNoam && optimization.peak_learning_rate <= 0) {
    Refuse("peak_learning_rate is 0, expected more for this schedule (0.0005 to 0.003 is usual)");
  }
  CheckSchedule(options);
  CheckArchitecture(options);
  if (options.adapter.any() && options.init.empty()) {
    Refuse(
        fmt::format("adapter.rank is {}, but there is no init: name the directory of the model "
                    "that the adapter is for",
                    options.adapter.rank));
  }
  const bool drops = optimization.dropout > 0 || optimization.attention_dropout > 0 ||
                     optimization.activation_dropout > 0;
  if (optimization.r_drop > 0 && !drops)
    Refuse("r_drop compares two passes with other dropout, but there is none; set dropout");
  const RunOptions& run = options.run;
  if (run.average_best > 0 && run.average_last > 1)
    Refuse("average_best and average_last exclude each other");
  const bool needs_validation = run.average_best > 0 || run.early_stopping_patience > 0;
  if (needs_validation && !options.task->validates()) {
    Refuse(fmt::format("early_stopping_patience and average_best need {}",
                       FindTask(options.model.task).info.validation_options));
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

Json WithDefaults(const Json& recorded, const Json& defaults) {
  Json all = Json::object();  // in one order, whatever is missing
  for (const auto& [key, value] : defaults.items()) {
    const auto found = recorded.find(key);
    if (found == recorded.end()) {
      if (!value.is_object()) all[key] = value;
    } else {
      all[key] = found->is_object() && value.is_object() ? WithDefaults(*found, value) : *found;
    }
  }
  for (const auto& [key, value] : recorded.items())
    if (!all.contains(key)) all[key] = value;
  return all;
}

std::vector<OptionDifference> DifferentOptions(const Json& before, const Json& now) {
  TrainOptions options = DefaultsLike(now);
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
  // How a vocabulary is made is not recorded where one is given.
  TrainOptions options = DefaultsLike(now);
  const Json defaults = FieldsToJson(Fields(options).Without(kNotRecorded | kMaking));
  RunChanges changes;
  for (const OptionDifference& each : DifferentOptions(WithDefaults(before, defaults), now)) {
    (each.identity ? changes.forbidden : changes.applied)
        .push_back(fmt::format("{} was {}, now {}", each.name, each.before, each.now));
  }
  return changes;
}

}  // namespace attend
