#include "train/tasks/translation/translation_train_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"
#include "metrics/metric_fields.h"
#include "train/tasks/text_files.h"
#include "train/tasks/translation/denoising_checks.h"

namespace attend {
namespace {

[[noreturn]] void Refuse(const std::string& message) {
  throw Error(ErrorKind::kConfiguration, message);
}

FieldList VocabularyFields(CorpusOptions& options) {
  FieldList fields;
  fields.Group("Vocabulary")
      .Add("vocab", &options.vocab, "vocabulary file of both sides", kPath)
      .Add("source_vocab", &options.source_vocab, "vocabulary file of the source side alone", kPath)
      .Add("target_vocab", &options.target_vocab, "vocabulary file of the target side alone", kPath)
      .Add("joint_vocab", &options.joint_vocab,
           "make one vocabulary for both sides, not one for each", kIdentity | kMaking)
      .Nest("", Fields(options.vocabulary, "vocab_"), kIdentity);
  return fields;
}

// How the training text is read.
FieldList ReadingFields(CorpusOptions& options) {
  FieldList fields;
  fields
      .Add("stream", &options.stream,
           "read the training text from disk during training, in bounded memory; train_weights, "
           "mixing_temperature, bpe_dropout and sampling_alpha turn this on",
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
           kIdentity);
  return fields;
}

// The text that is not trained on.
FieldList HeldOutFields(CorpusOptions& options) {
  FieldList fields;
  fields.Add("valid_source", &options.valid_source, "source text to validate on", kPath)
      .Add("valid_target", &options.valid_target, "its translation", kPath)
      .Add("valid_prefixes", &options.valid_prefixes, "as train_prefixes, of valid_source")
      .Add("valid_text", &options.valid_text,
           "with objective = denoising: plain text to validate on, its noise always the same",
           kPath)
      .Add("test_source", &options.test_source, "source text to translate and score at the end",
           kPath)
      .Add("test_target", &options.test_target, "its translation", kPath)
      .Add("test_prefixes", &options.test_prefixes, "as train_prefixes, of test_source");
  return fields;
}

FieldList CorpusFields(CorpusOptions& options) {
  FieldList fields;
  fields.Group("Text")
      .Add("objective", &options.objective, {"translation", "denoising"},
           "what is learned: pairs; or to undo noise in the plain text of train_text, and pairs "
           "too if they are given",
           kIdentity)
      .Add("train_source", &options.train_source,
           "source text to train on, one sentence a line; several files form one corpus; needed "
           "unless objective is denoising",
           kPath)
      .Add("train_target", &options.train_target, "its translation, line by line", kPath)
      .Add("train_prefixes", &options.train_prefixes,
           "text before each line of each file of train_source, such as 'summarize: ', so that one "
           "model learns several tasks; one for each file",
           kIdentity)
      .Add("train_text", &options.train_text,
           "with objective = denoising: plain text to train on, each line a text", kPath)
      .Add("train_alignments", &options.train_alignments,
           "for guided_alignment_weight: which words of train_source and train_target are "
           "translations of each other, a line a pair, such as 0-0 1-2; `attend align` makes it",
           kPath)
      .Add("train_weights", &options.train_weights, 1e-6, 1000,
           "how often an epoch uses each file, such as 1, 0.25 or 3; below 1, a part of the lines "
           "is left out; those of train_text follow those of train_source",
           kIdentity)
      .Add("mixing_temperature", &options.mixing_temperature, 0, 1000,
           "compute train_weights: the share of a file with n lines is proportional to n^(1 / "
           "temperature), as T5's; 1: to n; more makes shares alike; 0: off",
           kIdentity)
      .Add("mixing_limit", &options.mixing_limit, 0, 1e15,
           "with mixing_temperature: larger files count as one of so many lines; 0: no limit",
           kIdentity)
      .Nest("", ReadingFields(options))
      .Nest("", HeldOutFields(options))
      .Add("right_to_left", &options.right_to_left,
           "learn to write targets from their last token to their first; translations are given "
           "as usual. For `attend rerank` beside a usual model",
           kIdentity)
      .Nest("", Fields(options.protection), kIdentity)
      .Add("protect_examples", &options.protect_examples, 0, 1,
           "with protect: share of training pairs that get extra placeholders, in place of words "
           "that both sides share and at both ends, to teach copying",
           kIdentity)
      .Nest("", Fields(options.filters), kIdentity);
  return fields;
}

FieldList DistillationFields(TranslationTrainOptions& options) {
  FieldList fields;
  fields
      .Add("teacher", &options.teacher,
           "model directory (relative to the working directory) whose predictions of each target "
           "token the model learns too: word-level distillation; it has the same vocabularies",
           kNotCompared)
      .Add("distillation_weight", &options.distillation_weight, 0, 1,
           "with teacher: its share of the loss; the rest is that of the targets", kIdentity)
      .Add("distillation_temperature", &options.distillation_temperature, 0.01, 100,
           "with teacher: what the logits of both are divided by; more shows more of what is "
           "unlikely",
           kIdentity)
      .Add("quantization_aware", &options.quantization_aware,
           "round the inputs of products as int8 does, so that the model loses less by `attend "
           "quantize`; for the last updates of a model, which init names",
           kIdentity);
  return fields;
}

void CheckDistillation(const TranslationTrainOptions& own, const TrainOptions& options) {
  if (own.quantization_aware && options.adapter.any())
    Refuse("quantization_aware is for a whole model; leave adapter.rank out");
  if (own.quantization_aware && options.model.architecture != Architecture::kTransformer) {
    Refuse(
        fmt::format("quantization_aware is given, but architecture is {}; int8 is for "
                    "transformers",
                    ArchitectureName(options.model.architecture)));
  }
  if (own.teacher.empty()) return;
  if (options.optimization.r_drop > 0)
    Refuse("teacher and r_drop exclude each other; leave one of them out");
  if (own.corpus.objective == TrainingObjective::kDenoising)
    Refuse("teacher is for objective translation; leave it out of denoising");
  if (!options.init.empty() || !MakesVocabulary(options)) return;
  Refuse(
      fmt::format("teacher needs the vocabularies that it has: set vocab to '{0}/vocab.spm', or "
                  "source_vocab and target_vocab to '{0}/source.spm' and '{0}/target.spm', and "
                  "leave vocab_size out",
                  own.teacher));
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
      {"train_source", &corpus.train_source},
      {"train_target", &corpus.train_target},
      {"valid_source", &corpus.valid_source},
      {"valid_target", &corpus.valid_target},
      {"test_source", &corpus.test_source},
      {"test_target", &corpus.test_target},
      {"train_alignments", &corpus.train_alignments},
      {"train_text", &corpus.train_text},
      {"valid_text", &corpus.valid_text}};
  for (const auto& [name, files] : lists) CheckNotStandardInput(name, *files);
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

void CheckAlignments(const TranslationTrainOptions& own, const TrainOptions& options) {
  const CorpusOptions& corpus = own.corpus;
  const size_t files = corpus.train_alignments.size();
  if (own.guided_alignment_weight == 0) {
    if (files > 0)
      Refuse("train_alignments is given, but guided_alignment_weight is 0; set it (0.5 is usual)");
    if (own.guided_alignment_layer > 0)
      Refuse("guided_alignment_layer is given, but guided_alignment_weight is 0; set it");
    return;
  }
  if (files == 0) {
    Refuse(
        "guided_alignment_weight needs train_alignments, the words' links; `attend align` makes "
        "them");
  }
  if (files != corpus.train_source.size()) {
    Refuse(fmt::format("train_source names {} files but train_alignments {}, expected as many",
                       corpus.train_source.size(), files));
  }
  if (options.model.architecture != Architecture::kTransformer) {
    Refuse(
        fmt::format("guided_alignment_weight is given, but architecture is {}; it is for "
                    "transformers",
                    ArchitectureName(options.model.architecture)));
  }
  if (!corpus.protection.empty()) {
    Refuse(
        "guided_alignment_weight and protect exclude each other: placeholders change the words "
        "that train_alignments counts");
  }
  if (options.adapter.any())
    Refuse("guided_alignment_weight trains a layer of the model; leave adapter.rank out");
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

// Of options that need others. Placeholders may come from the model to fine-tune.
void CheckNeeds(const CorpusOptions& corpus, const TrainOptions& options) {
  const bool denoises = corpus.objective == TrainingObjective::kDenoising;
  const bool protects = !corpus.protection.empty() || !options.init.empty();
  const char* const objective = "objective = denoising";
  CheckDependents(options, {{"denoising", denoises, objective},
                            {"noise_density", denoises, objective},
                            {"mean_noise_span_length", denoises, objective},
                            {"permute_sentences", denoises, objective},
                            {"protect_examples", protects, "protect or protect_patterns"},
                            {"shuffle_buffer", corpus.Streams(), "stream"}});
}

}  // namespace

void CheckOrder(const TranslationTrainOptions& own) {
  if (!own.corpus.right_to_left) return;
  if (own.corpus.objective != TrainingObjective::kTranslation)
    Refuse("right_to_left is for objective translation; leave one of them out");
  if (own.guided_alignment_weight > 0)
    Refuse("right_to_left and guided_alignment_weight exclude each other; leave one of them out");
}

std::unique_ptr<TaskOptions> TranslationTrainOptions::Clone() const {
  return std::make_unique<TranslationTrainOptions>(*this);
}

FieldList TranslationTrainOptions::FieldsFor(const TrainOptions& options) {
  FieldList fields;
  fields.Nest("", CorpusFields(corpus))
      .Group("Denoising")
      .Nest("", Fields(corpus.denoising), kIdentity)
      .Nest("", VocabularyFields(corpus))
      .Group("Dropout and loss")
      .Add(
          "guided_alignment_weight", &guided_alignment_weight, 0, 100,
          "weight of what teaches one decoder layer to look at the words that train_alignments "
          "links to the one just read (0.5 is usual); `--alignments` then reads that layer; 0: off")
      .Add("guided_alignment_layer", &guided_alignment_layer, 0, 1000,
           "which layer that is, from 1; 0: the last but one", kIdentity)
      .Nest("", DistillationFields(*this))
      .Group("Validation")
      .Add("validate_translations", &validate_translations,
           "translate the validation text and score it too")
      .Add("beam_size", &beam_size, 1, 64, "beam size of validation and test")
      .Add("length_penalty", &length_penalty, 0, 10, "length penalty of validation and test")
      .Nest("", SplittingField(&split_sentences))
      .Nest("", Fields(bleu).Select({"tokenize", "tokenize_model"}));
  if (!MakesVocabulary(options)) fields.Mark(kMaking, kNotRecorded);
  return fields;
}

void TranslationTrainOptions::Check(const TrainOptions& options) const {
  if (const size_t count = options.model.languages.size(); count != 0 && count != 2)
    Refuse(fmt::format("languages holds {}, expected two, the source first", count));
  CheckObjective(*this);
  CheckPair(corpus.train_source, corpus.train_target, "train");
  CheckMixing(corpus);
  CheckPrefixes(corpus);
  CheckPair(corpus.valid_source, corpus.valid_target, "valid");
  CheckPair(corpus.test_source, corpus.test_target, "test");
  CheckFiles(corpus);
  CheckAlignments(*this, options);
  CheckOrder(*this);
  CheckDistillation(*this, options);
  CheckVocabularyOptions(corpus, !options.init.empty());
  CheckSampling(corpus, MakesVocabulary(options));
  CheckNeeds(corpus, options);
  if (!corpus.protection.empty()) const SpanFinder checks_expressions(corpus.protection);
  const std::string& metric = options.run.early_stopping_metric;
  const bool of_outputs = metric == "bleu" || metric == "chrf" || metric == "exact_match";
  if (!validate_translations && of_outputs)
    Refuse(fmt::format("early_stopping_metric {} needs validate_translations", metric));
  if (!validates() || metric == "loss" || metric == "perplexity") return;
  const bool of_text = metric == "denoising_loss";
  if (corpus.valid_source.empty() || (of_text && corpus.valid_text.empty())) {
    Refuse(
        fmt::format("early_stopping_metric is {}, which needs {}; without it there is loss", metric,
                    of_text ? "valid_text beside valid_source" : "valid_source and valid_target"));
  }
}

TranslationTrainOptions& TranslationOf(TrainOptions& options) {
  return dynamic_cast<TranslationTrainOptions&>(*options.task);
}

const TranslationTrainOptions& TranslationOf(const TrainOptions& options) {
  return dynamic_cast<const TranslationTrainOptions&>(*options.task);
}

bool MakesVocabulary(const TrainOptions& options) {
  const CorpusOptions& corpus = TranslationOf(options).corpus;
  return options.init.empty() && corpus.vocab.empty() && corpus.source_vocab.empty();
}

}  // namespace attend
