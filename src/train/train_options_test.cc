#include "train/train_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "attend/error.h"
#include "train/tasks/classification/classification_options.h"
#include "train/tasks/translation/translation_train_options.h"

namespace attend {
namespace {

using testing::HasSubstr;

TrainOptions Enough() {
  TrainOptions options;
  CorpusOptions& corpus = TranslationOf(options).corpus;
  corpus.train_source = {"a"};
  corpus.train_target = {"b"};
  corpus.vocab = "v";
  options.output = "out";
  return options;
}

std::string Complaint(const TrainOptions& options) {
  try {
    CheckTrainOptions(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kConfiguration);
    return error.what();
  }
  return "";
}

TEST(TrainOptionsTest, NamesWhatIsMissingOrContradicts) {
  EXPECT_EQ(Complaint(Enough()), "");
  TrainOptions options = Enough();
  TranslationOf(options).corpus.train_target.clear();
  EXPECT_THAT(Complaint(options), HasSubstr("train_source and train_target"));
  options = Enough();
  TranslationOf(options).corpus.valid_source = {"c"};
  EXPECT_THAT(Complaint(options), HasSubstr("valid_source is given without valid_target"));
  options = Enough();
  TranslationOf(options).corpus.vocab.clear();
  Fields(options).Get("vocab_size", "").Parse("0", "");  // none is made, as by default
  EXPECT_THAT(Complaint(options), HasSubstr("no vocabulary"));
  TranslationOf(options).corpus.source_vocab = "s";
  EXPECT_THAT(Complaint(options), HasSubstr("belong together"));
  options = Enough();
  options.init = "model";
  EXPECT_THAT(Complaint(options), HasSubstr("more than one of"));
  options = Enough();
  options.optimization.schedule = nn::ScheduleKind::kConstant;
  EXPECT_THAT(Complaint(options), HasSubstr("peak_learning_rate is 0"));
  options = Enough();
  options.run.early_stopping_patience = 3;
  EXPECT_THAT(Complaint(options), HasSubstr("need valid_source"));
  options = Enough();
  options.run.average_last = 2;
  options.run.average_best = 2;
  EXPECT_THAT(Complaint(options), HasSubstr("exclude each other"));
  options = Enough();
  TranslationOf(options).corpus.train_source = {"caf\xe9.en"};  // of a run, JSON and TOML tell
  EXPECT_THAT(Complaint(options), HasSubstr("train_source is 'caf\uFFFD.en', expected UTF-8"));
  options = Enough();
  TranslationOf(options).corpus.vocab.clear();
  options.init = "caf\xe9";
  EXPECT_THAT(Complaint(options), HasSubstr("init is 'caf\uFFFD', expected UTF-8"));
  options = Enough();
  options.output.clear();
  EXPECT_THAT(Complaint(options), HasSubstr("output is needed"));
}

TEST(TrainOptionsTest, RecipeTomlIsTyped) {
  TrainOptions options = Enough();
  TranslationOf(options).corpus.train_source = {"a \"quoted\" name", "tab\tname"};
  options.model.encoder->layers = 2;
  options.optimization.dropout = 0.30000000000000004;
  options.run.early_stopping_metric = "chrf";
  const std::string toml = "\n" + RecipeToml(options);
  EXPECT_THAT(toml, HasSubstr("\ntrain_source = [\"a \\\"quoted\\\" name\",\"tab\\tname\"]\n"));
  EXPECT_THAT(toml, HasSubstr("\nencoder.layers = 2\n"));
  EXPECT_THAT(toml, HasSubstr("\ndropout = 0.30000000000000004\n"));
  EXPECT_THAT(toml, HasSubstr("\nearly_stopping_metric = \"chrf\"\n"));
  EXPECT_THAT(toml, HasSubstr("\ntie_source_target = true\n"));
  EXPECT_THAT(toml, HasSubstr("\nadam_epsilon = 1e-09\n"));
  EXPECT_THAT(toml, testing::Not(HasSubstr("source_vocab")));  // not set
  EXPECT_THAT(toml, testing::Not(HasSubstr("init")));
  options.init = "model";
  EXPECT_THAT(RecipeToml(options), HasSubstr("\ninit = \"model\"\n"));
}

TEST(TrainOptionsTest, WeightsAreNumbersOneForEachFileAndStream) {
  TrainOptions options = Enough();
  EXPECT_FALSE(TranslationOf(options).corpus.Streams());
  TranslationOf(options).corpus.train_source =
      TranslationOf(options).corpus.train_target = {"a", "b"};
  TranslationOf(options).corpus.train_weights = {0.25, 3};
  EXPECT_TRUE(TranslationOf(options).corpus.Streams());
  CheckTrainOptions(options);
  EXPECT_THAT(RecipeToml(options), HasSubstr("\ntrain_weights = [0.25,3.0]\n"));
  TranslationOf(options).corpus.train_weights = {1};
  EXPECT_THROW(CheckTrainOptions(options), Error);
  TranslationOf(options).corpus.train_weights = {};
  TranslationOf(options).corpus.bpe_dropout = TranslationOf(options).corpus.sampling_alpha = 0.1;
  EXPECT_THROW(CheckTrainOptions(options), Error);
}

TEST(TrainOptionsTest, SamplingFollowsTheTypeOfTheVocabularyThatIsMade) {
  TrainOptions options = Enough();
  TranslationOf(options).corpus.vocab.clear();
  TranslationOf(options).corpus.vocabulary.size = 8000;
  for (const VocabularyType type : {VocabularyType::kUnigram, VocabularyType::kBpe}) {
    const bool is_bpe = type == VocabularyType::kBpe;
    TranslationOf(options).corpus.vocabulary.type = type;
    auto& right = is_bpe ? TranslationOf(options).corpus.bpe_dropout
                         : TranslationOf(options).corpus.sampling_alpha;
    auto& wrong = is_bpe ? TranslationOf(options).corpus.sampling_alpha
                         : TranslationOf(options).corpus.bpe_dropout;
    right = 0.1;
    wrong = 0;
    CheckTrainOptions(options);
    std::swap(right, wrong);
    EXPECT_THROW(CheckTrainOptions(options), Error);
  }
}

std::string MessageOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kConfiguration);
    return error.what();
  }
  return "";
}

TEST(TrainOptionsTest, AnUnknownTaskIsRefusedWithThoseThereAre) {
  EXPECT_EQ(
      MessageOf([] { TrainOptions options("translatoin"); }),
      "unknown task 'translatoin', expected translation or language_model or "
      "masked_language_model or tagging or classification or parsing or transcription or fusion; "
      "did you mean 'translation'?");
  TrainOptions options;
  EXPECT_THAT(MessageOf([&] { Fields(options).Get("task", "t").Parse("speaking", "t"); }),
              HasSubstr("t: task is 'speaking', expected one of translation"));
}

TEST(TrainOptionsTest, OptionsOfAStackThatIsNotThereAreRefused) {
  TrainOptions options;
  options.model.encoder.reset();
  EXPECT_EQ(MessageOf([&] { Fields(options).Get("encoder.layers", "t"); }),
            "t: unknown option 'encoder.layers'; a model of task translation has no encoder");
  Fields(options).Get("decoder.layers", "t");
}

TEST(TrainOptionsTest, OptionsOfOtherTasksAreRefusedWithTheTask) {
  TrainOptions options("language_model", "gpt-char");
  EXPECT_EQ(MessageOf([&] { Fields(options).Get("train_source", "t"); }),
            "t: unknown option 'train_source'; it is an option of task translation, and task is "
            "language_model");
  TrainOptions others("classification", "bert-tiny");
  EXPECT_THAT(MessageOf([&] { Fields(others).Get("crf", "t"); }),
              HasSubstr("an option of task tagging, and"));
  EXPECT_THAT(MessageOf([&] { Fields(others).Get("test_text", "t"); }),
              HasSubstr("an option of task language_model or masked_language_model, and"));
  EXPECT_THAT(MessageOf([&] { Fields(others).Get("dropuot", "t"); }), HasSubstr("did you mean"));
  Fields(others).Get("word_dropout", "t");  // which tagging has, too
}

ClassificationTrainOptions& ClassificationOf(TrainOptions& options) {
  return dynamic_cast<ClassificationTrainOptions&>(*options.task);
}

TrainOptions EnoughText() {
  TrainOptions options("classification", "bert-tiny");
  ClassificationOf(options).train = {"a"};
  ClassificationOf(options).vocabulary.made.size = 30;
  options.output = "out";
  return options;
}

TrainOptions EnoughPictures() {
  TrainOptions options("classification", "vit-tiny");
  ClassificationOf(options).pictures.train = {"a"};
  options.output = "out";
  return options;
}

std::string ComplaintOf(TrainOptions options, const char* name, const char* value) {
  Fields(options).Get(name, "t").Parse(value, "t");
  return Complaint(options);
}

TEST(TrainOptionsTest, OptionsThatCountOnlyWithOthersAreRefusedWithoutThem) {
  const std::pair<const char*, const char*> alone[] = {
      {"peak_learning_rate", "0.001"}, {"end_learning_rate", "0.001"},
      {"denoising", "infilling"},      {"noise_density", "0.3"},
      {"mean_noise_span_length", "5"}, {"permute_sentences", "true"},
      {"protect_examples", "0.2"},     {"shuffle_buffer", "37"}};
  for (const auto& [name, value] : alone)
    EXPECT_THAT(ComplaintOf(Enough(), name, value),
                HasSubstr(std::string(name) + " is " + value + ", but it counts only with"));
  EXPECT_EQ(ComplaintOf(Enough(), "shuffle_buffer", "100000"), "");  // as by default
  EXPECT_EQ(ComplaintOf(Enough(), "noam_scale", "2"), "");
  TrainOptions options = Enough();
  options.optimization.schedule = nn::ScheduleKind::kCosine;
  options.optimization.peak_learning_rate = 0.01;
  EXPECT_EQ(ComplaintOf(options, "end_learning_rate", "0.001"), "");
  EXPECT_THAT(ComplaintOf(options, "noam_scale", "2"), HasSubstr("schedule = noam"));
  options = Enough();
  TranslationOf(options).corpus.bpe_dropout = 0.1;  // reads as training goes
  EXPECT_EQ(ComplaintOf(options, "shuffle_buffer", "37"), "");
  options = Enough();
  Fields(options).Get("protect", "t").Parse("number", "t");
  EXPECT_EQ(ComplaintOf(options, "protect_examples", "0.2"), "");
  options = TrainOptions("language_model", "gpt-char");
  for (const auto& [name, value] : {std::pair{"train_text", "a"}, {"vocab", "v"}, {"output", "o"}})
    Fields(options).Get(name, "t").Parse(value, "t");
  EXPECT_THAT(ComplaintOf(options, "shuffle_buffer", "37"), HasSubstr("only with stream"));
}

TEST(TrainOptionsTest, DropoutThatTheArchitectureHasNotIsRefused) {
  for (const char* preset : {"tiny", "lstm", "convolution"}) {
    TrainOptions options("translation", preset);
    options.output = "out";
    TranslationOf(options).corpus = TranslationOf(Enough()).corpus;
    const bool transformer = options.model.architecture == Architecture::kTransformer,
               convolution = options.model.architecture == Architecture::kConvolution;
    EXPECT_EQ(Complaint(options), "") << preset;
    EXPECT_EQ(ComplaintOf(options, "activation_dropout", "0.1").empty(), transformer) << preset;
    EXPECT_EQ(ComplaintOf(options, "attention_dropout", "0.1").empty(), !convolution) << preset;
  }
}

TEST(TrainOptionsTest, ClassifiersOfTextHaveNoOptionOfPictures) {
  EXPECT_EQ(Complaint(EnoughText()), "");
  EXPECT_EQ(ComplaintOf(EnoughText(), "valid_count", "0"), "");
  for (const char* name : {"valid_count", "train_count", "augment.flip", "augment.mixup"})
    EXPECT_THAT(ComplaintOf(EnoughText(), name, "1"),
                HasSubstr(std::string(name) + " is given, but preset bert-tiny reads text"));
  TrainOptions options = EnoughText();
  ClassificationOf(options).pictures.label_names = {"a", "b"};
  EXPECT_THAT(Complaint(options), HasSubstr("label_names is given"));
  options = EnoughText();
  ClassificationOf(options).pictures.valid = {"a"};
  EXPECT_THAT(Complaint(options), HasSubstr("valid_pictures is given"));
}

TEST(TrainOptionsTest, ClassifiersOfPicturesHaveNoOptionOfText) {
  EXPECT_EQ(Complaint(EnoughPictures()), "");
  EXPECT_EQ(ComplaintOf(EnoughPictures(), "case", "keep"), "");
  const std::pair<const char*, const char*> options[] = {
      {"vocab_size", "30"}, {"vocab_type", "char"}, {"newline", "true"},
      {"case", "factor"},   {"vocab", "v"},         {"word_dropout", "0.1"}};
  for (const auto& [name, value] : options)
    EXPECT_THAT(ComplaintOf(EnoughPictures(), name, value),
                HasSubstr(std::string(name) + " is given, but preset vit-tiny reads pictures"));
  EXPECT_THAT(ComplaintOf(EnoughPictures(), "head_bias", "true"), HasSubstr("head_bias is on"));
  EXPECT_THAT(ComplaintOf(EnoughPictures(), "tie_target_output", "false"),
              HasSubstr("tie_target_output is off"));
  TrainOptions table = EnoughPictures();
  ClassificationOf(table).valid = {"a"};
  EXPECT_THAT(Complaint(table), HasSubstr("valid_table is given"));
}

TEST(TrainOptionsTest, MetricsAreThoseOfTheTask) {
  TrainOptions options;
  for (const char* name : {"bleu", "perplexity", "loss"}) {
    Fields(options).Get("early_stopping_metric", "t").Parse(name, "t");
    EXPECT_EQ(options.run.early_stopping_metric, name);
  }
  EXPECT_THAT(
      MessageOf([&] { Fields(options).Get("early_stopping_metric", "t").Parse("f1", "t"); }),
      HasSubstr("expected one of loss, perplexity, bleu, chrf"));
  options = Enough();
  options.run.early_stopping_metric = "chrf";
  EXPECT_EQ(Complaint(options), "");
  TranslationOf(options).validate_translations = false;
  EXPECT_THAT(Complaint(options), HasSubstr("needs validate_translations"));
}

TEST(TrainOptionsTest, ACopyHasTaskOptionsOfItsOwn) {
  TrainOptions options = Enough();
  TrainOptions copy = options, assigned;
  assigned = options;
  TranslationOf(copy).corpus.vocab = TranslationOf(assigned).corpus.vocab = "w";
  EXPECT_EQ(TranslationOf(options).corpus.vocab, "v");
}

TEST(TrainOptionsTest, LanguagesAreTwo) {
  TrainOptions options = Enough();
  for (const std::vector<std::string>& languages :
       {std::vector<std::string>{}, {"en", "de"}, {"en"}, {"en", "de", "fr"}}) {
    options.model.languages = languages;
    if (languages.size() % 2 == 0) {
      CheckTrainOptions(options);
    } else {
      EXPECT_THROW(CheckTrainOptions(options), Error);
    }
  }
}

std::vector<std::string> NamesOf(Traits traits) {
  TrainOptions options;
  const FieldList fields = Fields(options);
  std::vector<std::string> names;
  for (const Field& field : fields.fields()) {
    const bool stack = field.name.starts_with("encoder.") || field.name.starts_with("decoder.");
    EXPECT_TRUE(!stack || field.traits == kIdentity) << field.name;
    if (!stack && field.Is(traits)) names.push_back(field.name);
  }
  return names;
}

TEST(TrainOptionsTest, TraitsSayWhatBecomesOfAnOption) {
  EXPECT_THAT(NamesOf(kPath),
              testing::UnorderedElementsAre("train_source", "train_target", "train_alignments",
                                            "valid_source", "valid_target", "test_source",
                                            "test_target", "train_text", "valid_text", "vocab",
                                            "source_vocab", "target_vocab"));
  EXPECT_THAT(
      NamesOf(kIdentity),
      testing::UnorderedElementsAre(
          "objective", "train_prefixes", "mixing_temperature", "mixing_limit", "denoising",
          "noise_density", "mean_noise_span_length", "permute_sentences", "train_weights", "stream",
          "shuffle_buffer", "bpe_dropout", "sampling_alpha", "seed", "batch_tokens",
          "max_sentences", "accumulate", "min_length", "max_length", "max_length_ratio",
          "vocab_size", "joint_vocab", "vocab_type", "character_coverage", "user_defined_symbols",
          "placeholders", "protect", "protect_patterns", "protect_examples", "right_to_left",
          "sentinels", "newline", "mask", "normalization", "vocab_max_sentences", "byte_fallback",
          "split_digits", "case", "case_noise", "architecture", "head_bias", "tie_source_target",
          "tie_target_output", "adapter.rank", "adapter.alpha", "adapter.matrices",
          "guided_alignment_layer", "distillation_weight", "distillation_temperature",
          "quantization_aware"));
  EXPECT_THAT(NamesOf(kNotCompared), testing::UnorderedElementsAre("preset", "teacher"));
  EXPECT_THAT(NamesOf(kNotRecorded),
              testing::UnorderedElementsAre("task", "output", "init", "dry_run", "peak_flops",
                                            "adapter.rank", "adapter.alpha", "adapter.matrices"));
  EXPECT_THAT(NamesOf(kRequired), testing::IsEmpty());
}

Json Recorded(TrainOptions options) { return FieldsToJson(RecordedFields(options)); }

TEST(TrainOptionsTest, HowAVocabularyIsMadeIsRecordedWhereOneIsMade) {
  TrainOptions given = Enough();
  EXPECT_FALSE(Recorded(given).contains("vocab_type"));
  EXPECT_TRUE(Recorded(given).contains("case"));
  EXPECT_THAT(RecipeToml(given), testing::Not(HasSubstr("vocab_")));
  TrainOptions made = Enough();
  TranslationOf(made).corpus.vocab.clear();
  TranslationOf(made).corpus.vocabulary.size = 8000;
  EXPECT_EQ(Recorded(made)["vocab_size"], 8000);
  EXPECT_THAT(RecipeToml(made), HasSubstr("\nvocab_type = \"unigram\"\n"));
  TrainOptions other = made;
  TranslationOf(other).corpus.vocabulary.size = 6000;
  EXPECT_THAT(CompareOptions(Recorded(made), Recorded(other)).forbidden,
              testing::ElementsAre("vocab_size was 8000, now 6000"));
  other.init = "model";  // its vocabulary is compared by its digest
  EXPECT_THAT(CompareOptions(Recorded(made), Recorded(other)).forbidden, testing::ElementsAre());
}

TEST(TrainOptionsTest, AnAdapterIsRecordedWhereOneIsTrained) {
  TrainOptions options = Enough();
  const Json without = Recorded(options);
  EXPECT_FALSE(without.contains("adapter"));
  options.adapter.rank = 8;
  EXPECT_THROW(CheckTrainOptions(options), Error);  // of no model
  const Json with = Recorded(options);
  EXPECT_EQ(with["adapter"], Json({{"rank", 8}, {"alpha", 16.0}, {"matrices", "query_value"}}));
  options.adapter.rank = 4;
  EXPECT_THAT(CompareOptions(with, Recorded(options)).forbidden,
              testing::ElementsAre("adapter.rank was 8, now 4"));
  EXPECT_THAT(CompareOptions(without, with).forbidden, testing::SizeIs(3));
}

TEST(TrainOptionsTest, WhatMakesAnotherRunIsForbiddenTheRestApplies) {
  TrainOptions options = Enough();
  const Json before = Recorded(options);
  EXPECT_TRUE(CompareOptions(before, before).forbidden.empty());
  EXPECT_TRUE(CompareOptions(before, before).applied.empty());
  TranslationOf(options).corpus.train_source = {"elsewhere/a"};  // known by its digest
  EXPECT_TRUE(CompareOptions(before, Recorded(options)).forbidden.empty());
  options.seed = 2;
  options.model.encoder->d_ff = 7;
  options.optimization.batch_tokens = 1;
  options.optimization.accumulate = 3;
  options.run.max_updates = 5;
  options.optimization.dropout = 0.5;
  const RunChanges changes = CompareOptions(before, Recorded(options));
  EXPECT_THAT(changes.forbidden, testing::UnorderedElementsAre(
                                     HasSubstr("seed was 1, now 2"), HasSubstr("encoder.d_ff"),
                                     HasSubstr("batch_tokens"), HasSubstr("accumulate")));
  EXPECT_THAT(changes.applied,
              testing::UnorderedElementsAre(HasSubstr("max_updates was 100000, now 5"),
                                            HasSubstr("dropout")));
}

TEST(TrainOptionsTest, ARunOfAnOlderProgramHadTheDefaultsOfWhatItLacked) {
  TrainOptions options = Enough();
  Json before = Recorded(options);
  before.erase("architecture");
  before["decoder"].erase("attention_window");
  EXPECT_THAT(CompareOptions(before, Recorded(options)).forbidden, testing::IsEmpty());
  options.model.decoder->attention_window = 8;
  EXPECT_THAT(CompareOptions(before, Recorded(options)).forbidden,
              testing::ElementsAre("decoder.attention_window was 0, now 8"));
}

}  // namespace
}  // namespace attend
