#include "train/set_up.h"

#include <fmt/format.h>

#include <map>

#include "attend/error.h"
#include "attend/nn/linear_layer.h"
#include "base/sha256.h"
#include "model/adapted_model.h"
#include "model/config_fields.h"
#include "model/config_file.h"
#include "model/model_directory.h"
#include "model/quantize.h"
#include "train/checkpoint/checkpoint_store.h"
#include "train/device/device.h"
#include "train/device/environment.h"
#include "train/distributed/ranks_agree.h"
#include "train/loop/parameters.h"
#include "train/tasks/registry.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

// Options that describe the model must not contradict the model that training starts from.
void CheckAgainstInit(const ModelConfig& init, TrainOptions& options, const RunSettings& settings) {
  ModelConfig stored = init;
  const FieldList wanted = Fields(options.model).Without(kDerived), found = Fields(stored);
  for (const Field& field : wanted.fields()) {
    const bool stack = field.name.starts_with("encoder.") || field.name.starts_with("decoder.");
    if (!settings.is_given(field.name) && !(stack && settings.is_given("preset"))) continue;
    // Without the option it follows from the picture's size.
    if (init.patches && field.name == "encoder.max_positions" && !settings.is_given(field.name))
      continue;
    const Field* other = found.Find(field.name);
    const std::string value = other == nullptr ? "nothing" : other->ValueText();
    if (value == field.ValueText()) continue;
    const std::string what = settings.is_given(field.name)
                                 ? field.name
                                 : fmt::format("{} of preset {}", field.name, options.preset);
    throw Error(ErrorKind::kConfiguration,
                fmt::format("{} is {}, but the model in '{}' has {}; leave {} out when fine-tuning",
                            what, field.ValueText(), options.init, value,
                            settings.is_given(field.name) ? "it" : "preset"));
  }
}

// Options of an adapter where none is trained.
void CheckAdapterOptions(const TrainOptions& options, const RunSettings& settings) {
  if (options.adapter.any()) return;
  for (const char* name : {"adapter.alpha", "adapter.matrices"}) {
    if (!settings.is_given(name)) continue;
    throw Error(ErrorKind::kConfiguration,
                fmt::format("{} is given, but adapter.rank is 0: no adapter is trained; set the "
                            "rank, or leave {} out",
                            name, name));
  }
}

CheckpointStore StoreOf(const TrainOptions& options) {
  return CheckpointStore(fs::path(options.output) / "checkpoints");
}

bool GoesOn(const TrainOptions& options) {
  return !options.output.empty() && !StoreOf(options).Updates().empty();
}

// The configuration of a fine-tuned run that goes on after the model it began with has gone, as its
// newest checkpoint has it; null for others.
Json ConfigWithoutInit(const TrainOptions& options, const Log& log) {
  if (options.init.empty() || fs::exists(options.init) || !GoesOn(options)) return {};
  const auto checkpoint = StoreOf(options).FindNewest(NoLog());
  const RunIdentity run = RunOf(checkpoint->state, checkpoint->directory.string());
  if (!run.data_digests.contains(kInitDigest)) return {};
  if (TrainsAdapter(run)) {
    throw Error(ErrorKind::kInput,
                fmt::format("'{}', the model to adapt, is not there any more, and the checkpoints "
                            "of an adapter hold no weights of it; put it back, or name its place "
                            "with init",
                            options.init));
  }
  log(LogLevel::kWarning, fmt::format("'{}', the model to fine-tune, is not there any more; the "
                                      "run goes on from its checkpoint",
                                      options.init));
  return run.model;
}

// A task trains the stacks that its models have, and no others, by what they read.
void CheckStacks(const ModelConfig& init, const TrainOptions& options) {
  const TaskInfo& task = FindTask(options.model.task).info;
  const auto check = [&](const char* name, bool has, bool needs) {
    if (has == needs) return;
    const char* article = name[0] == 'e' ? "an" : "a";
    throw Error(ErrorKind::kInput,
                fmt::format("the model in '{}' is of task {} and has {} {}, which task {} {}",
                            options.init, init.task, has ? article : "no", name, task.name,
                            has ? "does not train" : "needs"));
  };
  check("encoder", init.encoder.has_value(), task.encoder);
  check("decoder", init.decoder.has_value(), task.decoder);
  if (init.input == options.model.input) return;
  const std::map<InputKind, const char*> read = {{InputKind::kTokens, "text"},
                                                 {InputKind::kPatches, "pictures"},
                                                 {InputKind::kFrames, "sound"},
                                                 {InputKind::kItems, "items"}};
  throw Error(ErrorKind::kInput,
              fmt::format("the model in '{}' reads {}, expected one that reads "
                          "{}, as this training does",
                          options.init, read.at(init.input), read.at(options.model.input)));
}

// An encoder of another task gets the options' decoder, where the task allows it.
void GiveDecoder(const TrainOptions& options, ModelConfig* config) {
  if (!FindTask(options.model.task).info.init_without_decoder || config->decoder) return;
  config->decoder = options.model.decoder;
  config->tie_source_target = false;
  config->tie_target_output = options.model.tie_target_output;
}

// The model to fine-tune, which decides what `options` say of the model. Null without `init`, and
// where the run goes on without it. Every rank calls it, whatever its options.
std::shared_ptr<const Model> LoadInit(const RunSettings& settings, TrainOptions* options,
                                      ProcessGroup* group) {
  const Json own = group->first() ? ConfigWithoutInit(*options, settings.effects.log) : Json();
  const Json without =
      ParseJson(group->FromFirst(own.dump()), "the model's configuration on rank 0");
  if (options->init.empty()) return nullptr;
  const std::shared_ptr<const Model> init = without.is_null() ? LoadModel(options->init) : nullptr;
  ModelConfig config = init ? init->config : ModelConfigOf(without, options->output);
  if (config.task != options->model.task) {
    TakeHead(options->model, &config);
    GiveDecoder(*options, &config);
  }
  CheckStacks(config, *options);
  if (init && IsInt8(*init)) {
    throw Error(ErrorKind::kInput,
                fmt::format("the model in '{}' has int8 weights, which are not trained; init takes "
                            "the model that it was made of",
                            options->init));
  }
  if (options->adapter.any() && config.architecture != Architecture::kTransformer) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("adapter.rank is given, but the model in '{}' is of architecture {}; "
                            "adapters are for transformers",
                            options->init, ArchitectureName(config.architecture)));
  }
  CheckAgainstInit(config, *options, settings);
  const std::vector<std::string> languages = options->model.languages;
  const std::string task = options->model.task;
  options->model = config;
  options->model.task = task;
  if (!languages.empty()) options->model.languages = languages;
  return init;
}

// An adapter knows its base by the digest that stands in config.json.
void CheckDigest(const Model& base, const std::string& digest, const std::string& directory) {
  if (base.tensor_digest == digest) return;
  throw Error(ErrorKind::kInput,
              fmt::format("{}/{} is not the file that {} has the SHA-256 of: it was changed or "
                          "damaged; `attend verify` says more",
                          directory, kTensorFile, kConfigFile));
}

RunIdentity IdentityOf(const TrainingTask& task, TrainOptions& options,
                       const RunSettings& settings) {
  RunIdentity run;
  run.options = FieldsToJson(RecordedFields(options));
  run.model = FieldsToJson(Fields(options.model));
  run.data_digests = task.Digests();
  run.environment = DescribeEnvironment(settings.device, settings.threads);
  run.environment["attend"] = settings.program;
  run.task = task.ForExport();
  return run;
}

}  // namespace

Setup SetUp(TrainOptions options, const RunSettings& settings, ProcessGroup* group) {
  const Log log = group->first() ? settings.effects.log : NoLog();
  CheckTrainOptions(options);
  CheckAdapterOptions(options, settings);
  const torch::Device device = DeviceOf(settings.device, settings.world);
  WarnOfPrecision(options.optimization, device,
                  settings.world.local_rank == 0 ? settings.effects.log : NoLog());
  // Shards of a batch are what threads share; LibTorch's own would share operations too small.
  SetUpTorch(1);
  const std::shared_ptr<const Model> init = LoadInit(settings, &options, group);
  CheckArchitecture(options);
  Setup setup;
  setup.task = FindTask(options.model.task)
                   .set_up({&options, &settings, group, device, init, GoesOn(options), log});
  const bool own_head = init != nullptr && HasOwnHead(init->config, options.model);
  if (init != nullptr) {
    std::vector<std::string> own;
    if (own_head) own.emplace_back("head.");
    if (!init->config.decoder) own.emplace_back("decoder.");
    ReadParameters(init->tensors, &setup.task->module(), own);
  }
  if (options.adapter.any()) {
    if (init != nullptr) CheckAdapted(init->config, options.model, own_head, options.init);
    nn::AddAdapters(&setup.task->module(), options.adapter, static_cast<uint64_t>(options.seed),
                    own_head);
  }
  setup.identity = IdentityOf(*setup.task, options, settings);
  if (init != nullptr) {
    const std::string digest = Sha256OfFile(fs::path(options.init) / kTensorFile);
    if (options.adapter.any()) CheckDigest(*init, digest, options.init);
    setup.identity.data_digests[kInitDigest] = digest;
    if (options.adapter.any())
      setup.identity.task[kBasePath] = fs::absolute(options.init).lexically_normal().string();
  }
  setup.identity.environment["processes"] = group->size();
  CheckRanksAgree(setup.identity, settings.effects.log, group);
  setup.options = std::move(options);
  return setup;
}

}  // namespace attend
