#include "train/tasks/translation/set_up_translation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>

#include "attend/error.h"
#include "tasks/translation/protection.h"
#include "text/lines.h"
#include "text/sentinels.h"
#include "text/target_order.h"
#include "text/tokenizer.h"
#include "train/tasks/given_vocabulary.h"
#include "train/tasks/run_model.h"
#include "train/tasks/translation/guided_alignment.h"
#include "train/tasks/translation/text_checks.h"
#include "train/tasks/translation/translation_task.h"
#include "train/tasks/translation/translation_train_options.h"

namespace attend {
namespace {

// Better known before a vocabulary is made, which may take long.
void CheckParallel(const CorpusOptions& corpus) {
  const auto check = [](const auto& source, const auto& target) {
    for (size_t i = 0; i < source.size(); ++i) {
      CheckLineCounts({source[i], "", CountLines(source[i])},
                      {target[i], "", CountLines(target[i])});
    }
  };
  check(corpus.train_source, corpus.train_target);
  if (!corpus.train_alignments.empty()) check(corpus.train_source, corpus.train_alignments);
  check(corpus.valid_source, corpus.valid_target);
}

Vocabularies VocabulariesFor(const TaskSetup& setup) {
  const TrainOptions& options = *setup.options;
  const std::shared_ptr<const Model>& init = setup.init;
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
  if (options.init.empty() && !MakesVocabulary(options))
    return MakeVocabularies(options, setup.log);
  if (setup.goes_on) return LoadVocabularies(options.output);
  CheckParallel(TranslationOf(options).corpus);
  return MakeVocabularies(options, setup.log);
}

// The option that gives a vocabulary where none is made.
const char* GiverOf(const TrainOptions& options) {
  if (!options.init.empty()) return "init";
  return TranslationOf(options).corpus.vocab.empty() ? "source_vocab" : "vocab";
}

// What becomes of case stands in the vocabulary; what scores outputs must know it.
void CompleteCase(const Vocabularies& vocabularies, const RunSettings& settings,
                  CorpusOptions* corpus) {
  LetterCase* said = &corpus->vocabulary.letter_case;
  const LetterCase source = vocabularies.source->tokenizer().letter_case(),
                   target = vocabularies.target->tokenizer().letter_case();
  for (const auto& vocabulary : {vocabularies.source, vocabularies.target})
    CheckGivenCase(*vocabulary, *said, settings);
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

// A fine-tuned model goes on to write in the order that it learned.
void CompleteOrder(const Model* init, const RunSettings& settings, CorpusOptions* corpus) {
  if (init != nullptr && !settings.is_given("right_to_left"))
    corpus->right_to_left = WritesRightToLeft(init->tokenization);
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

// A fine-tuned model stays as it was: OPUS-MT's cut source and target by vocabularies of their own
// and have one embedding.
void CompleteModel(const Vocabularies& vocabularies, const RunSettings& settings,
                   TrainOptions* options) {
  ModelConfig& model = options->model;
  model.source_vocab_size = vocabularies.source->size();
  model.target_vocab_size = vocabularies.target->size();
  model.special_ids = vocabularies.target->special_ids();
  if (options->init.empty() && !vocabularies.joint() && !settings.is_given("tie_source_target"))
    model.tie_source_target = false;
  CheckModelConfig(model);
}

// Rank 0 makes them, or knows where they are.
Vocabularies SharedVocabularies(const TaskSetup& setup) {
  ProcessGroup* group = setup.group;
  Vocabularies own;
  std::string source, target;
  if (group->first()) {
    own = VocabulariesFor(setup);
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
  check(corpus.train_alignments, "train_alignments");
  check(corpus.valid_source, "valid_source");
  check(corpus.valid_target, "valid_target");
  check(corpus.train_text, "train_text");
  check(corpus.valid_text, "valid_text");
  check(corpus.test_source, "test_source");
  check(corpus.test_target, "test_target");
}

// Read before training, since what is wrong with it is better known then.
std::optional<ParallelText> TestText(const CorpusOptions& corpus) {
  if (corpus.test_source.empty()) return std::nullopt;
  return ReadParallelText(corpus.test_source, corpus.test_target, corpus.test_prefixes);
}

// The tokens that protection and denoising need.
void CompleteVocabularyOptions(CorpusOptions* corpus) {
  VocabularyOptions* made = &corpus->vocabulary;
  if (!corpus->protection.empty() && made->placeholders == 0) made->placeholders = kPlaceholders;
  if (corpus->objective != TrainingObjective::kDenoising) return;
  if (corpus->denoising.kind == NoiseKind::kInfilling)
    made->mask = true;
  else if (made->sentinels == 0)
    made->sentinels = kSentinels;
}

// What can be checked before a vocabulary is made, which may take long.
void CheckBefore(TrainOptions* options, const RunSettings& settings) {
  CorpusOptions& corpus = TranslationOf(*options).corpus;
  if (!MakesVocabulary(*options)) CheckMakingOptions(*options, settings, GiverOf(*options));
  CheckTextFiles(corpus);
  CheckSides(*options);
  if (MakesVocabulary(*options)) CompleteVocabularyOptions(&corpus);
  CheckShape(options->model);
  CheckFilters(corpus.filters, options->model);
}

// Not refused: the recipe of a student has them for `attend distill`, which may name no teacher.
void WarnOfDistillation(const TaskSetup& setup) {
  const TranslationTrainOptions& own = TranslationOf(*setup.options);
  const TranslationTrainOptions usual{};
  if (!own.teacher.empty()) return;
  if (own.distillation_weight == usual.distillation_weight &&
      own.distillation_temperature == usual.distillation_temperature)
    return;
  setup.log(LogLevel::kWarning,
            "distillation_weight and distillation_temperature count only with teacher, which is "
            "not given");
}

}  // namespace

std::unique_ptr<TrainingTask> SetUpTranslation(const TaskSetup& setup) {
  TrainOptions& options = *setup.options;
  const RunSettings& settings = *setup.settings;
  CorpusOptions& corpus = TranslationOf(options).corpus;
  CheckBefore(&options, settings);
  WarnOfDistillation(setup);
  std::optional<ParallelText> test = TestText(corpus);
  Vocabularies vocabularies = SharedVocabularies(setup);
  if (!MakesVocabulary(options)) {
    for (const auto& vocabulary : {vocabularies.source, vocabularies.target})
      CheckGivenVocabulary(*vocabulary, corpus.vocabulary, settings);
  }
  CompleteOrder(setup.init.get(), settings, &corpus);
  CheckOrder(TranslationOf(options));
  if (corpus.right_to_left) vocabularies.target = vocabularies.target->Reversed();
  CompleteCase(vocabularies, settings, &corpus);
  CompleteProtection(vocabularies, setup.init.get(), settings, &corpus.protection);
  CompleteAlignmentLayer(&options);
  CompleteModel(vocabularies, settings, &options);
  if (test) {
    CheckTestText(*test, corpus.test_source, *vocabularies.source, options.model);
    Bleu{BleuOf(options, test->target)};  // refuses what does not go together
  }
  if (!setup.group->first()) test.reset();
  auto task = std::make_unique<TranslationTask>(options, vocabularies, std::move(test),
                                                settings.threads, setup.device, setup.log);
  if (setup.group->first()) task->MeasureTrainingText();
  return task;
}

}  // namespace attend
