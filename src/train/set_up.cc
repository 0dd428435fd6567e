#include "train/set_up.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/sha256.h"
#include "model/config_fields.h"
#include "model/config_file.h"
#include "model/model_directory.h"
#include "model/quantize.h"
#include "tasks/translation/protection.h"
#include "text/letter_case.h"
#include "text/lines.h"
#include "train/checkpoint/checkpoint_store.h"
#include "train/device/device.h"
#include "train/device/environment.h"
#include "train/distributed/ranks_agree.h"
#include "train/export.h"
#include "train/loop/parameters.h"
#include "train/tasks/translation/text_checks.h"
#include "train/tasks/translation/vocabularies.h"

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
  log(LogLevel::kWarning, fmt::format("'{}', the model to fine-tune, is not there any more; the "
                                      "run goes on from its checkpoint",
                                      options.init));
  return run.model;
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
  const ModelConfig config = init ? init->config : ModelConfigOf(without, options->output);
  if (!config.encoder || !config.decoder) {
    throw Error(ErrorKind::kInput,
                fmt::format("the model in '{}' has no {}, which training needs", options->init,
                            config.encoder ? "decoder" : "encoder"));
  }
  if (init && IsInt8(*init)) {
    throw Error(ErrorKind::kInput,
                fmt::format("the model in '{}' has int8 weights, which are not trained; init takes "
                            "the model that it was made of",
                            options->init));
  }
  CheckAgainstInit(config, *options, settings);
  const std::vector<std::string> languages = options->model.languages;
  options->model = config;
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
  if (options.init.empty() && !options.MakesVocabulary()) return MakeVocabularies(options, log);
  if (GoesOn(options)) return LoadVocabularies(options.output);
  CheckParallel(options.corpus);
  return MakeVocabularies(options, log);
}

std::string TypeText(VocabularyOptions options) {
  return Fields(options).Find("type")->ValueText();
}

// Of a vocabulary that is to be made, where none is.
void CheckMakingOptions(TrainOptions options, const RunSettings& settings) {
  if (options.MakesVocabulary()) return;
  const FieldList fields = Fields(options);
  std::vector<std::string> given;
  for (const Field& field : fields.fields()) {
    // These two are compared with what is given.
    const bool compared = field.name == "vocab_size" || field.name == "vocab_type";
    if (field.Is(kMaking) && !compared && settings.is_given(field.name))
      given.push_back(field.name);
  }
  if (given.empty()) return;
  const char* giver = !options.init.empty()           ? "init"
                      : !options.corpus.vocab.empty() ? "vocab"
                                                      : "source_vocab";
  throw Error(ErrorKind::kConfiguration,
              fmt::format("{} {} only a vocabulary that is made from the training text, but {} "
                          "gives one; leave {} out",
                          fmt::join(given, ", "), given.size() == 1 ? "changes" : "change", giver,
                          given.size() == 1 ? "it" : "them"));
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
    found.type = vocabulary->type();
    if (settings.is_given("vocab_type") && said.type != found.type) {
      throw Error(ErrorKind::kConfiguration,
                  fmt::format("vocab_type is {}, but the vocabulary given is of type {}; leave "
                              "vocab_type out",
                              TypeText(said), TypeText(found)));
    }
  }
}

std::string CaseText(LetterCase letter_case) {
  VocabularyOptions options;
  options.letter_case = letter_case;
  return Fields(options).Find("case")->ValueText();
}

// What becomes of case stands in the vocabulary; what scores outputs must know it.
void CompleteCase(const Vocabularies& vocabularies, const RunSettings& settings,
                  CorpusOptions* corpus) {
  LetterCase* said = &corpus->vocabulary.letter_case;
  const LetterCase source = CaseOf(*vocabularies.source), target = CaseOf(*vocabularies.target);
  for (const LetterCase found : {source, target}) {
    if (!settings.is_given("case") || *said == found) continue;
    throw Error(ErrorKind::kConfiguration,
                fmt::format("case is {0}, but the vocabulary given has {1}; make one with "
                            "`attend vocab --case {0}`, or leave case out",
                            CaseText(*said), CaseText(found)));
  }
  *said = target;
  const bool marks = source == LetterCase::kFactor && target == LetterCase::kFactor;
  if (!marks && settings.is_given("case_noise") && corpus->case_noise > 0) {
    throw Error(
        ErrorKind::kConfiguration,
        fmt::format("case_noise is {}, but case is {}; it is for vocabularies that mark "
                    "case (case = factor)",
                    corpus->case_noise, CaseText(source == LetterCase::kFactor ? target : source)));
  }
  if (!marks) corpus->case_noise = 0;
}

// What a fine-tuned model protects stays protected.
void CompleteProtection(const Vocabularies& vocabularies, const Model* init,
                        const RunSettings& settings, ProtectionOptions* options) {
  if (init != nullptr && !settings.is_given("protect") && !settings.is_given("protect_patterns"))
    *options = ProtectionOf(init->tokenization);
  if (options->empty()) return;
  if (!PlaceholderIds(*vocabularies.source).empty() &&
      !PlaceholderIds(*vocabularies.target).empty())
    return;
  throw Error(ErrorKind::kConfiguration,
              fmt::format("protect needs a vocabulary with placeholders, which the one given has "
                          "not; make one with `attend vocab --placeholders {}`",
                          kPlaceholders));
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

Json DigestsOf(const TranslationTask& task) {
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

// A file that can't be read, and text without a line, are better known before others are made into
// a vocabulary, which may take long.
void CheckTextFiles(const CorpusOptions& corpus) {
  const auto check = [](const std::vector<std::string>& files, const char* name) {
    bool any = files.empty();
    std::string line;
    for (const std::string& file : files) any |= LineReader(file).Next(&line);
    if (!any) throw Error(ErrorKind::kInput, fmt::format("{}: '{}' holds no line", name, files[0]));
  };
  check(corpus.train_source, "train_source");
  check(corpus.train_target, "train_target");
  check(corpus.valid_source, "valid_source");
  check(corpus.valid_target, "valid_target");
  check(corpus.test_source, "test_source");
  check(corpus.test_target, "test_target");
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
  run.data_digests = DigestsOf(task);
  run.environment = DescribeEnvironment(settings.device, settings.threads);
  run.environment["attend"] = settings.program;
  run.task = {{"tokenization", DescribeTokenization(options, task.vocabularies())},
              {"sample_sources", SampleSources(task.sample_lines())},
              {"training_text", TrainingTextToJson(task.training_text())}};
  return run;
}

}  // namespace

Setup SetUp(TrainOptions options, const RunSettings& settings, ProcessGroup* group) {
  const Log log = group->first() ? settings.effects.log : NoLog();
  CheckTrainOptions(options);
  CheckMakingOptions(options, settings);
  CheckTextFiles(options.corpus);
  CheckSides(options);
  VocabularyOptions& making = options.corpus.vocabulary;
  if (!options.corpus.protection.empty() && options.MakesVocabulary() && making.placeholders == 0)
    making.placeholders = kPlaceholders;
  Setup setup;
  setup.test = TestText(options.corpus);
  const torch::Device device = DeviceOf(settings.device, settings.world);
  WarnOfPrecision(options.optimization, device,
                  settings.world.local_rank == 0 ? settings.effects.log : NoLog());
  // Shards of a batch are what threads share; LibTorch's own would share operations too small.
  SetUpTorch(1);
  const std::shared_ptr<const Model> init = LoadInit(settings, &options, group);
  CheckShape(options.model);
  CheckFilters(options.corpus.filters, options.model);
  const Vocabularies vocabularies = SharedVocabularies(options, init, log, group);
  CheckGivenVocabularies(vocabularies, options, settings);
  CompleteCase(vocabularies, settings, &options.corpus);
  CompleteProtection(vocabularies, init.get(), settings, &options.corpus.protection);
  CompleteModel(vocabularies, settings, &options.model);
  if (setup.test) {
    CheckTestText(*setup.test, options.corpus.test_source, *vocabularies.source, options.model);
    Bleu{BleuOf(options, setup.test->target)};  // refuses what does not go together
  }
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
  if (group->first()) setup.task->MeasureTrainingText();
  setup.identity = IdentityOf(*setup.task, options, settings);
  if (init != nullptr) {
    setup.identity.data_digests[kInitDigest] = Sha256OfFile(fs::path(options.init) / kTensorFile);
  }
  setup.identity.environment["processes"] = group->size();
  CheckRanksAgree(setup.identity, settings.effects.log, group);
  setup.options = std::move(options);
  return setup;
}

}  // namespace attend
