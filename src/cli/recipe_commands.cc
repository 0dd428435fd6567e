// `attend distill` and `attend back-translate`: start attend.recipes of the Python package, which
// runs other commands of this program one after another.
#include <fmt/format.h>

#include <filesystem>

#include "attend/error.h"
#include "attend/model_config.h"
#include "base/files.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/python_package.h"
#include "model/config_file.h"
#include "model/model_directory.h"
#include "model/quantize.h"
#include "tasks/loaded_model.h"
#include "tasks/translation/directions.h"

namespace attend {
namespace {

// What these commands must know of a recipe.
struct RecipeText {
  std::vector<std::string> sources, targets, prefixes, alignments, symbols, languages;
  double guided_alignment_weight = 0, r_drop = 0;
  std::string init, vocab, source_vocab, preset, architecture, device;

  bool has_vocabulary() const { return !vocab.empty() || !source_vocab.empty(); }
  bool is_transformer() const {
    const std::string transformer = ArchitectureName(Architecture::kTransformer);
    if (!architecture.empty()) return architecture == transformer;
    return preset.empty() || PresetConfig(preset).architecture == Architecture::kTransformer;
  }
};

void RefuseIf(bool wrong, const std::string& message) {
  if (wrong) throw Error(ErrorKind::kConfiguration, message);
}

// Throws Error for what is no recipe, or one without pairs, or one whose text is not as it is
// given.
RecipeText ReadRecipe(const std::string& path) {
  RecipeText text;
  FieldList fields;
  fields.Add("train_source", &text.sources, "")
      .Add("train_target", &text.targets, "")
      .Add("train_prefixes", &text.prefixes, "")
      .Add("train_alignments", &text.alignments, "")
      .Add("user_defined_symbols", &text.symbols, "")
      .Add("languages", &text.languages, "")
      .Add("guided_alignment_weight", &text.guided_alignment_weight, 0, 100, "")
      .Add("r_drop", &text.r_drop, 0, 100, "")
      .Add("preset", &text.preset, "")
      .Add("architecture", &text.architecture, "")
      .Add("device", &text.device, "")
      .Add("init", &text.init, "")
      .Add("vocab", &text.vocab, "")
      .Add("source_vocab", &text.source_vocab, "");
  constexpr bool kPassOverOthers = true;
  FieldsFromToml(ReadFile(path, kMaxTomlBytes), fields, path, kPassOverOthers);
  RefuseIf(!text.prefixes.empty(),
           fmt::format("{}: train_prefixes is given, but a model translates text as it is; put the "
                       "prefixes into the text and leave the option out",
                       path));
  if (!text.sources.empty() && text.sources.size() == text.targets.size()) return text;
  throw Error(ErrorKind::kConfiguration,
              fmt::format("{}: train_source names {} files and train_target {}, expected as many, "
                          "and one at least",
                          path, text.sources.size(), text.targets.size()));
}

struct RecipeOptions {
  std::string recipe, output;
  WeightType type = WeightType::kStored;
  int64_t beam_size = 5;
};

FieldList Fields(RecipeOptions& options) {
  FieldList fields;
  fields
      .Add("recipe", &options.recipe,
           "TOML file of the model to train, as `attend train --config` reads it")
      .Add("output", &options.output,
           "folder for everything that is made; run/model in it is the model. The same call goes "
           "on where an earlier one ended")
      .Nest("", TypeField(&options.type))
      .Add("beam_size", &options.beam_size, 1, 64,
           "hypotheses that a search for translations keeps");
  return fields;
}

Json CallOf(const char* command, RecipeOptions& options, const RecipeText& text,
            const CommonOptions& common) {
  Json call = FieldsToJson(Fields(options));
  call["config"] = call["recipe"];
  call.erase("recipe");
  call.update({{"command", command},
               {"sources", text.sources},
               {"targets", text.targets},
               {"threads", common.threads},
               {"quiet", common.quiet},
               {"data_dir", common.data_dir}});
  return call;
}

struct DistillOptions {
  std::string teacher;
  double length_penalty = 0.6;
  int64_t n_best = 1, int8_updates = 0;
  bool keep_original = false, word_level = false;
};

FieldList Fields(DistillOptions& options) {
  FieldList fields;
  fields.Add("teacher", &options.teacher, "model directory that the student learns from")
      .Add("length_penalty", &options.length_penalty, 0, 10, "of the teacher's search")
      .Add("n_best", &options.n_best, 1, 64,
           "above 1: of so many translations the student learns the one that is most like the "
           "reference, by sentence BLEU")
      .Add("keep_original", &options.keep_original, "learn the reference translations too")
      .Add("word_level", &options.word_level,
           "learn the teacher's predictions of each token too, by its vocabularies, as the option "
           "teacher of `attend train` does")
      .Add("int8_updates", &options.int8_updates, 0, 1e9,
           "updates that follow the training with products rounded as int8 rounds them");
  return fields;
}

struct BackTranslateOptions {
  std::string model, tag = "<BT>";
  std::vector<std::string> text;
  bool sample = true;
  int64_t top_k = 0;
};

FieldList Fields(BackTranslateOptions& options) {
  FieldList fields;
  fields
      .Add("model", &options.model,
           "model directory from the recipe's target language to its source language")
      .Add("text", &options.text, "text of the target language, a sentence a line")
      .Add("sample", &options.sample, "draw translations at random in place of a beam search")
      .Add("top_k", &options.top_k, 0, 1000, "draw from so many likeliest tokens; 0: from all")
      .Add("tag", &options.tag,
           "what each back-translated source begins with, so that the model can tell; empty: "
           "nothing");
  return fields;
}

// What would fail only after hours, or never, here and below. A model that is not there has an
// error of its own. `check`: of tasks/translation/directions.h.
template <class Check>
void CheckLanguages(const RecipeText& text, const std::string& directory, const char* option,
                    Check check) {
  if (!std::filesystem::exists(std::filesystem::path(directory) / "config.json")) return;
  ModelConfig trained;
  trained.languages = text.languages;
  check(trained, ReadConfig(directory).model, fmt::format("that of --{} '{}'", option, directory));
}

void CheckDistillation(const DistillOptions& options, const RecipeText& text,
                       const std::string& recipe) {
  RefuseIf(options.int8_updates > 0 && !text.is_transformer(),
           fmt::format("int8_updates is {}, but {} is of another architecture; int8 is for "
                       "transformers",
                       options.int8_updates, recipe));
  if (!options.word_level) return;
  RefuseIf(text.has_vocabulary() || !text.init.empty(),
           fmt::format("word_level trains with the teacher's vocabularies, but {} has {}; leave it "
                       "out",
                       recipe, text.init.empty() ? "a vocab" : "init"));
  RefuseIf(text.r_drop > 0,
           fmt::format("word_level and r_drop exclude each other; leave r_drop out of {}", recipe));
  RefuseIf(IsInt8(*LoadModel(options.teacher)),
           fmt::format("word_level needs a teacher in f32, but '{}' has int8 weights; name the "
                       "model that it was made of",
                       options.teacher));
}

void CheckBackTranslation(const BackTranslateOptions& options, const RecipeText& text,
                          const std::string& recipe, const CommandLine& command_line) {
  RefuseIf(options.sample && command_line.IsSet("beam_size"),
           "beam_size is of a search, but translations are drawn; give --sample=false, or leave it "
           "out");
  RefuseIf(!options.sample && options.top_k > 0,
           "top_k is of drawing, but sample is false; leave one of them out");
  RefuseIf(!text.alignments.empty() || text.guided_alignment_weight > 0,
           fmt::format("{} has train_alignments or guided_alignment_weight, but back-translated "
                       "text has no links between words; leave both out",
                       recipe));
}

}  // namespace

int RunDistill(const std::vector<std::string>& arguments) {
  CommonOptions common;
  RecipeOptions options;
  DistillOptions own;
  CommandLine command_line(
      "distill", "train a small model on what a large one writes",
      "attend distill --teacher big/model --recipe student.toml --output student\n"
      "attend distill --teacher big/model --recipe student.toml --output student --n-best 8 "
      "--beam-size 8 --word-level --int8-updates 1000");
  command_line.Options(Fields(own))
      .Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet", "data_dir"}))
      .Required({"teacher", "recipe", "output"});
  if (!command_line.Parse(arguments)) return 0;
  const RecipeText text = ReadRecipe(options.recipe);
  CheckDistillation(own, text, options.recipe);
  CheckLanguages(text, own.teacher, "teacher", CheckSameDirection);
  Json call = CallOf("distill", options, text, common);
  call.update(FieldsToJson(Fields(own)));
  call["alignments"] = text.guided_alignment_weight > 0;
  call["device"] = text.device;
  RunInPython("distill", "attend.recipes", call);
}

int RunBackTranslate(const std::vector<std::string>& arguments) {
  CommonOptions common;
  RecipeOptions options;
  BackTranslateOptions own;
  CommandLine command_line(
      "back-translate", "train on text of the target language alone, too",
      "attend back-translate --model de-en/model --text plain.de --recipe en-de.toml --output "
      "en-de");
  command_line.Options(Fields(own))
      .Options(Fields(options))
      .Options(Fields(common, {"threads", "seed", "quiet", "data_dir"}))
      .Required({"model", "text", "recipe", "output"});
  if (!command_line.Parse(arguments)) return 0;
  const RecipeText text = ReadRecipe(options.recipe);
  CheckBackTranslation(own, text, options.recipe, command_line);
  CheckLanguages(text, own.model, "model", CheckOppositeDirection);
  Json call = CallOf("back-translate", options, text, common);
  call.update(FieldsToJson(Fields(own)));
  call["seed"] = common.seed;
  call["makes_vocabulary"] = text.init.empty() && !text.has_vocabulary();
  call["symbols"] = text.symbols;
  RunInPython("back-translate", "attend.recipes", call);
}

}  // namespace attend
