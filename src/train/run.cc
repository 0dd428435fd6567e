#include "train/run.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <optional>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/failure.h"
#include "base/files.h"
#include "base/sha256.h"
#include "model/config_fields.h"
#include "model/model_directory.h"
#include "text/letter_case.h"
#include "text/lines.h"
#include "train/device.h"
#include "train/environment.h"
#include "train/export.h"
#include "train/gpu.h"
#include "train/learner.h"
#include "train/output_lock.h"
#include "train/parameters.h"
#include "train/ranks_agree.h"
#include "train/speed.h"
#include "train/trainer.h"
#include "train/translation_scores.h"
#include "train/translation_task.h"
#include "train/vocabularies.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

// What a run needs before its first update.
struct Setup {
  TrainOptions options;
  std::optional<ParallelText> test;
  std::unique_ptr<TranslationTask> task;
  RunIdentity identity;
};

// Options that describe the model must not contradict the model that training starts from.
void CheckAgainstInit(const ModelConfig& init, TrainOptions& options, const RunSettings& settings) {
  ModelConfig stored = init;
  const FieldList wanted = Fields(options.model), found = Fields(stored);
  for (const Field& field : wanted.fields()) {
    const bool stack = field.name.starts_with("encoder.") || field.name.starts_with("decoder.");
    if (!settings.is_given(field.name) && !(stack && settings.is_given("preset"))) continue;
    const Field* other = found.Find(field.name);
    const std::string value = other == nullptr ? "nothing" : other->ValueText();
    if (value == field.ValueText()) continue;
    throw Error(ErrorKind::kConfiguration,
                fmt::format("{} is {}, but the model in '{}' has {}; leave it out when fine-tuning",
                            field.name, field.ValueText(), options.init, value));
  }
}

// Better known before a vocabulary is made, which may take long.
void CheckParallel(const CorpusOptions& corpus) {
  const auto check = [](const auto& source, const auto& target) {
    for (size_t i = 0; i < source.size(); ++i) {
      CheckLineCounts({source[i], "", CountLines(source[i])},
                      {target[i], "", CountLines(target[i])});
    }
  };
  check(corpus.train_source, corpus.train_target);
  check(corpus.valid_source, corpus.valid_target);
}

// The model to fine-tune, if any, which decides what `options` say of the model.
std::shared_ptr<const Model> LoadInit(const RunSettings& settings, TrainOptions* options) {
  if (options->init.empty()) return nullptr;
  const std::shared_ptr<const Model> init = LoadModel(options->init);
  if (!init->config.encoder || !init->config.decoder) {
    throw Error(ErrorKind::kInput,
                fmt::format("the model in '{}' has no {}, which training needs", options->init,
                            init->config.encoder ? "decoder" : "encoder"));
  }
  CheckAgainstInit(init->config, *options, settings);
  const std::vector<std::string> languages = options->model.languages;
  options->model = init->config;
  if (!languages.empty()) options->model.languages = languages;
  return init;
}

Vocabularies VocabulariesFor(const TrainOptions& options, const std::shared_ptr<const Model>& init,
                             const Log& log) {
  if (init != nullptr) {
    if (init->source_vocabulary.empty()) {
      throw Error(ErrorKind::kInput,
                  fmt::format("the model in '{}' has no vocabulary, which training on text needs",
                              options.init));
    }
    const auto source = Vocabulary::FromBytes(init->source_vocabulary, options.init);
    const bool joint = init->source_vocabulary == init->target_vocabulary;
    return {source, joint ? source : Vocabulary::FromBytes(init->target_vocabulary, options.init)};
  }
  if (!options.MakesVocabulary()) return MakeVocabularies(options, log);
  const bool going_on =
      !options.output.empty() &&
      !CheckpointStore(fs::path(options.output) / "checkpoints").Updates().empty();
  if (going_on) return LoadVocabularies(options.output);
  CheckParallel(options.corpus);
  return MakeVocabularies(options, log);
}

std::string TypeText(VocabularyOptions options) {
  return Fields(options).Find("type")->ValueText();
}

// What is said of a vocabulary that is given must be true of it.
void CheckGivenVocabularies(const Vocabularies& vocabularies, const TrainOptions& options,
                            const RunSettings& settings) {
  if (options.MakesVocabulary()) return;
  const VocabularyOptions& said = options.corpus.vocabulary;
  for (const auto& vocabulary : {vocabularies.source, vocabularies.target}) {
    if (said.size != 0 && said.size != vocabulary->size()) {
      throw Error(ErrorKind::kConfiguration,
                  fmt::format("vocab_size is {}, but the vocabulary given has {} pieces; leave "
                              "vocab_size out, or set it to 0",
                              said.size, vocabulary->size()));
    }
    VocabularyOptions found;
    found.type = vocabulary->is_bpe() ? VocabularyType::kBpe : VocabularyType::kUnigram;
    if (settings.is_given("vocab_type") && said.type != found.type) {
      throw Error(ErrorKind::kConfiguration,
                  fmt::format("vocab_type is {}, but the vocabulary given is of type {}; leave "
                              "vocab_type out",
                              TypeText(said), TypeText(found)));
    }
  }
}

// Whether text is lower-cased stands in the vocabulary; what scores outputs must know it.
void CompleteLowercase(const Vocabularies& vocabularies, const RunSettings& settings,
                       VocabularyOptions* options) {
  const bool source = LowerCases(*vocabularies.source), target = LowerCases(*vocabularies.target);
  if (options->lowercase && !(source && target)) {
    throw Error(ErrorKind::kConfiguration,
                "lowercase is true, but the vocabulary given keeps capital letters; make one with "
                "`attend vocab --lowercase`, or leave lowercase out");
  }
  if (!options->lowercase && target && settings.is_given("lowercase")) {
    throw Error(ErrorKind::kConfiguration,
                "lowercase is false, but the vocabulary given lower-cases all text; leave "
                "lowercase out, or make one with `attend vocab`");
  }
  options->lowercase = target;
}

// All of a model's configuration that no vocabulary decides: better known before one is made.
void CheckShape(ModelConfig model) {
  model.source_vocab_size = model.target_vocab_size =
      std::max({model.special_ids.pad, model.special_ids.unk, model.special_ids.bos,
                model.special_ids.eos}) +
      1;
  CheckModelConfig(model);
}

void CompleteModel(const Vocabularies& vocabularies, const RunSettings& settings,
                   ModelConfig* model) {
  model->source_vocab_size = vocabularies.source->size();
  model->target_vocab_size = vocabularies.target->size();
  model->special_ids = vocabularies.target->special_ids();
  if (!vocabularies.joint() && !settings.is_given("tie_source_target"))
    model->tie_source_target = false;
  CheckModelConfig(*model);
}

// Rank 0 makes them, or knows where they are.
Vocabularies SharedVocabularies(const TrainOptions& options,
                                const std::shared_ptr<const Model>& init, const Log& log,
                                ProcessGroup* group) {
  Vocabularies own;
  std::string source, target;
  if (group->first()) {
    own = VocabulariesFor(options, init, log);
    source = own.source->bytes();
    target = own.joint() ? "" : own.target->bytes();
  }
  source = group->FromFirst(source);
  target = group->FromFirst(target);
  if (group->first()) return own;
  own.source = Vocabulary::FromBytes(source, "rank 0's vocabulary");
  own.target =
      target.empty() ? own.source : Vocabulary::FromBytes(target, "rank 0's target vocabulary");
  return own;
}

Json DigestsOf(const TranslationTask& task, const TrainOptions& options) {
  Json digests = Json::object();
  const auto add = [&](const std::string& name, const Corpus& corpus) {
    const size_t files = corpus.digests().size() / 2;
    for (size_t i = 0; i < corpus.digests().size(); ++i) {
      digests[fmt::format("{}_{} file {}", name, i < files ? "source" : "target", i % files + 1)] =
          corpus.digests()[i].sha256;
    }
  };
  add("train", task.train());
  if (task.valid() != nullptr) add("valid", *task.valid());
  digests["source vocabulary"] = Sha256(task.vocabularies().source->bytes());
  digests["target vocabulary"] = Sha256(task.vocabularies().target->bytes());
  if (!options.init.empty())
    digests["init"] = Sha256OfFile(fs::path(options.init) / "model.safetensors");
  return digests;
}

// The first sentences that the exported model is to prove itself on.
Json SampleSources(const std::vector<std::string>& lines) {
  Json sources = Json::array();
  for (const std::string& line : lines) {
    if (sources.size() < kSampleCount && !line.empty()) sources.push_back(line);
  }
  return sources;
}

// A file that can't be read is better known before others are made into a vocabulary, which may
// take long.
void CheckTextFiles(const CorpusOptions& corpus) {
  for (const auto* files : {&corpus.train_source, &corpus.train_target, &corpus.valid_source,
                            &corpus.valid_target, &corpus.test_source, &corpus.test_target}) {
    std::string line;
    for (const std::string& file : *files) LineReader(file).Next(&line);
  }
}

// Read before training, since what is wrong with it is better known then.
std::optional<ParallelText> TestText(const CorpusOptions& corpus) {
  if (corpus.test_source.empty()) return std::nullopt;
  return ReadParallelText(corpus.test_source, corpus.test_target);
}

RunIdentity IdentityOf(const TranslationTask& task, TrainOptions& options,
                       const RunSettings& settings) {
  RunIdentity run;
  run.options = FieldsToJson(RecordedFields(options));
  run.model = FieldsToJson(Fields(options.model));
  run.data_digests = DigestsOf(task, options);
  run.environment = DescribeEnvironment(settings.device, settings.threads);
  run.environment["attend"] = settings.program;
  run.task = {{"tokenization", DescribeTokenization(options, task.vocabularies())},
              {"sample_sources", SampleSources(task.sample_lines())}};
  return run;
}

// Rank 0 alone tells what is so for every rank, and keeps the test text; the first rank of a
// machine what is so for the machine.
Setup SetUp(TrainOptions options, const RunSettings& settings, ProcessGroup* group) {
  const Log log = group->first() ? settings.effects.log : NoLog();
  CheckTrainOptions(options);
  CheckTextFiles(options.corpus);
  Setup setup;
  setup.test = TestText(options.corpus);
  const torch::Device device = DeviceOf(settings.device, settings.world);
  WarnOfPrecision(options.optimization, device,
                  settings.world.local_rank == 0 ? settings.effects.log : NoLog());
  // Shards of a batch are what threads share; LibTorch's own would share operations too small.
  SetUpTorch(1);
  const std::shared_ptr<const Model> init = LoadInit(settings, &options);
  CheckShape(options.model);
  CheckFilters(options.corpus.filters, options.model);
  const Vocabularies vocabularies = SharedVocabularies(options, init, log, group);
  CheckGivenVocabularies(vocabularies, options, settings);
  CompleteLowercase(vocabularies, settings, &options.corpus.vocabulary);
  CompleteModel(vocabularies, settings, &options.model);
  if (setup.test)
    CheckTestText(*setup.test, options.corpus.test_source, *vocabularies.source, options.model);
  if (!group->first()) setup.test.reset();
  try {
    setup.task =
        std::make_unique<TranslationTask>(options, vocabularies, settings.threads, device, log);
  } catch (const c10::Error& error) {  // too large for the memory
    throw Error(ErrorKind::kRuntime, fmt::format("can't make a model of {} parameters: {}",
                                                 ParameterCount(options.model),
                                                 Excerpt(error.what_without_backtrace(), 240)));
  }
  if (init != nullptr) ReadParameters(init->tensors, &setup.task->module());
  setup.identity = IdentityOf(*setup.task, options, settings);
  setup.identity.environment["processes"] = group->size();
  CheckRanksAgree(setup.identity, settings.effects.log, group);
  setup.options = std::move(options);
  return setup;
}

void ReportCorpora(const TranslationTask& task, const Log& log) {
  log(LogLevel::kInfo, fmt::format("training text: {}", task.train().Text()));
  if (task.valid() != nullptr)
    log(LogLevel::kInfo, fmt::format("validation text: {}", task.valid()->Text()));
}

// Scores the exported model's translations of the test text, which are kept too.
Json Test(const ParallelText& test, const TrainOptions& options, const RunSettings& settings,
          const fs::path& model) {
  const std::vector<std::string> outputs =
      TranslateLines(LoadModel(model), test.source, options.run, settings.threads);
  std::string text;
  for (const std::string& output : outputs) text += output + "\n";
  WriteFileAtomically(fs::path(options.output) / "test_output.txt", text);
  const Json scores = ScoreTranslations(outputs, test.target, options.corpus.vocabulary.lowercase);
  WriteFileAtomically(fs::path(options.output) / "result.json", scores.dump() + "\n");
  settings.effects.log(LogLevel::kInfo,
                       fmt::format("test: BLEU {} ({})", scores["bleu"]["score"].dump(),
                                   scores["bleu"]["signature"].get<std::string>()));
  return scores;
}

struct EpochSize {
  int64_t batches = 0, targets = 0;
  double seconds = 0;  // to make its batches, with nothing that trains on them
};

EpochSize MeasureEpoch(const TranslationTask& task, const BatchOptions& batching,
                       const std::function<double()>& now) {
  constexpr double kSecondsBetweenMessages = 10;
  EpochSize size;
  const double begin = now();
  double told = begin;
  for (BatchStream batches(&task.examples(), batching); batches.position().epoch == 0;) {
    size.targets += task.CountTargets(batches.Next());
    ++size.batches;
    const double time = now();
    if (time - told < kSecondsBetweenMessages) continue;
    told = time;
    batching.log(LogLevel::kInfo, fmt::format("an epoch, so far: {} target tokens", size.targets));
  }
  size.seconds = std::max(now() - begin, 1e-9);
  return size;
}

UpdateMode ModeOf(const RunSettings& settings) {
  if (settings.device == "cpu") return {settings.threads, /*deferred=*/false};
  return {1, /*deferred=*/true};
}

// Of all processes' devices; 0: not known.
double PeakFlops(const TrainOptions& options, const RunSettings& settings) {
  const bool known_gpu = settings.device != "cpu" && options.optimization.Bf16Products();
  const double known = known_gpu ? Bf16Peak(GpuName()) : 0;
  return static_cast<double>(settings.world.size) *
         (options.peak_flops > 0 ? options.peak_flops : known);
}

int64_t PeakMemoryMib() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

// On ranks but the first: takes part in training, and leaves files and messages to rank 0.
RunResult Help(TrainOptions given, const RunSettings& settings,
               const std::shared_ptr<ProcessGroup>& group) {
  const Setup setup = SetUp(std::move(given), settings, group.get());
  TrainerEffects silent = settings.effects;
  silent.log = NoLog();
  Trainer trainer(setup.task.get(), setup.options, setup.identity, silent, ModeOf(settings), group);
  settings.hold_stop(true);
  group->EndSetUp();
  RunResult result{trainer.Run(), "", Json()};
  group->Leave();
  return result;
}

RunResult Lead(TrainOptions given, const RunSettings& settings,
               const std::shared_ptr<ProcessGroup>& group) {
  const fs::path directory = given.output;
  const OutputLock lock(directory);
  const Log& log = settings.effects.log;
  if (!group->alone()) log(LogLevel::kInfo, fmt::format("training in {} processes", group->size()));
  Setup setup = SetUp(std::move(given), settings, group.get());
  ReportCorpora(*setup.task, log);
  TrainerEffects effects = settings.effects;
  effects.peak_flops = PeakFlops(setup.options, settings);
  Trainer trainer(setup.task.get(), setup.options, setup.identity, effects, ModeOf(settings),
                  group);
  // Not before the trainer knows that these are the run's: a checkpoint needs its own.
  SaveVocabularies(setup.task->vocabularies(), directory);
  WriteFileAtomically(directory / "config.toml", RecipeToml(setup.options));
  settings.hold_stop(true);
  group->EndSetUp();
  RunResult result{trainer.Run(), "", Json()};
  group->Leave();
  if (!result.outcome.finished) return result;
  settings.hold_stop(false);
  log(LogLevel::kInfo, fmt::format("training is over: {}", result.outcome.reason));
  result.model = directory / "model";
  torch::set_num_threads(settings.threads);  // as in `attend export`, for the same bits
  const std::vector<fs::path> averaged = trainer.AveragedDirectories();
  if (averaged.empty()) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("average_best has no checkpoint to average: no validation gave a "
                            "number before the end; `attend export --checkpoint {} --output {}` "
                            "makes a model of the last one",
                            directory.string(), result.model.string()));
  }
  ExportCheckpoints(averaged, result.model, log);
  trainer.WriteReport();
  if (!setup.test) return result;
  result.scores = Test(*setup.test, setup.options, settings, result.model);
  trainer.WriteReport(result.scores);
  return result;
}

}  // namespace

RunResult TrainTranslation(TrainOptions options, RunSettings settings) {
  const Log& log = settings.effects.log;
  const ProcessGroup::Ends ends{settings.abandon, settings.effects.stop_requested,
                                settings.hold_stop};
  const auto group = std::make_shared<ProcessGroup>(settings.world, ends, log);
  try {
    CheckTrainOptions(options);
    group->Meet(log);
    settings.world = group->world();
    if (settings.share_threads) settings.threads = ShareOfThreads(settings.threads, settings.world);
    group->Connect(DeviceOf(settings.device, settings.world));
    return (group->first() ? Lead : Help)(std::move(options), settings, group);
  } catch (const std::exception& error) {
    group->Fail(MessageOf(error));
    throw;
  }
}

Json DryRun(TrainOptions given, RunSettings settings) {
  given.output.clear();
  settings.world = {};
  ProcessGroup alone;
  const Setup setup = SetUp(std::move(given), settings, &alone);
  ReportCorpora(*setup.task, settings.effects.log);
  const TrainOptions& options = setup.options;
  const BatchOptions batching = BatchingOf(options, settings.effects.log);
  const EpochSize epoch = MeasureEpoch(*setup.task, batching, settings.effects.now);
  const auto epoch_targets = static_cast<double>(epoch.targets);
  const double updates_in_epoch =
      static_cast<double>(epoch.batches) / static_cast<double>(options.optimization.accumulate);
  BatchStream batches(&setup.task->examples(), BatchingOf(options, NoLog()));
  Learner learner(setup.task.get(), options.optimization, ModeOf(settings));
  const int64_t accumulate = options.optimization.accumulate;
  const SpeedPlan measure{
      .warm_up = 1, .updates = std::max<int64_t>(6 / accumulate, 1), .accumulate = accumulate};
  const double speed =
      MeasureUpdates(measure, setup.task.get(), &learner, &batches, settings.effects.now)
          .target_tokens_per_s();
  double total = epoch_targets * static_cast<double>(options.run.max_updates) / updates_in_epoch;
  if (options.run.max_epochs > 0)
    total = std::min(total, static_cast<double>(options.run.max_epochs) * epoch_targets);
  if (options.run.max_target_tokens > 0)
    total = std::min(total, static_cast<double>(options.run.max_target_tokens));
  Json plan = Json::object();
  plan["train"] = setup.task->train().Text();
  if (setup.task->valid() != nullptr) plan["valid"] = setup.task->valid()->Text();
  if (setup.test) plan["test"] = fmt::format("{} lines", setup.test->source.size());
  plan["source_vocabulary"] = options.model.source_vocab_size;
  plan["target_vocabulary"] = options.model.target_vocab_size;
  plan["parameters"] = ParameterCount(options.model);
  plan["updates_in_epoch"] = updates_in_epoch;
  plan["target_tokens_in_epoch"] = epoch.targets;
  plan["target_tokens"] = total;
  const double data_speed = epoch_targets / epoch.seconds;
  plan["data_tokens_per_s"] = data_speed;
  plan["target_tokens_per_s"] = speed;
  plan["hours"] = total / std::min(speed, data_speed) / 3600;
  plan["memory_mib"] = PeakMemoryMib();
  return plan;
}

TrainingRate MeasureTraining(TrainOptions given, const RunSettings& settings, int64_t updates) {
  constexpr int64_t kWarmUp = 5;
  ProcessGroup alone;
  const Setup setup = SetUp(std::move(given), settings, &alone);
  ReportCorpora(*setup.task, settings.effects.log);
  BatchStream batches(&setup.task->examples(), BatchingOf(setup.options, settings.effects.log));
  const UpdateMode mode = ModeOf(settings);
  Learner learner(setup.task.get(), setup.options.optimization, mode);
  const std::function<double()>& now = settings.effects.now;
  const auto of_products =
      torch::TensorOptions(DeviceOf(settings.device, settings.world))
          .dtype(setup.options.optimization.Bf16Products() ? torch::kBFloat16 : torch::kFloat32);
  return {setup.options.model,
          MeasureUpdates({.warm_up = kWarmUp, .updates = updates}, setup.task.get(), &learner,
                         &batches, now),
          MeasureProductRate(mode.threads, of_products, now), PeakFlops(setup.options, settings)};
}

}  // namespace attend
