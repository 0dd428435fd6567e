// `attend classify`: a class for each text, picture or item with several inputs.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "attend/classifier.h"
#include "attend/error.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/item_command.h"
#include "cli/labelled_answers.h"
#include "cli/picture_commands.h"
#include "cli/text_commands.h"
#include "tasks/classification/classification_json.h"
#include "tasks/classification/classification_options.h"
#include "tasks/loaded_model.h"

namespace attend {
namespace {

struct ClassifyOptions {
  std::string model, adapter;
  ClassificationOptions classification;
  std::string without;
  WeightType type = WeightType::kStored;
};

FieldList Fields(ClassifyOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "the model directory")
      .Nest("", AdapterField(&options.adapter))
      .Nest("", TypeField(&options.type))
      .Nest("", Fields(options.classification))
      .Add("without", &options.without,
           "inputs of items to leave out, with commas between them: text, picture, links; for a "
           "model of fusion");
  return fields;
}

const Classification kNothing;  // what is said of a picture that can't be read

void Print(const Json& report) { std::cout << Printable(Dump(report)) << '\n'; }

// Of labelled pictures it says at the end how many it told right.
void ClassifyPictures(const std::vector<std::string>& files, const Classifier& classifier,
                      const ModelConfig& config, const CommonOptions& common, int64_t top) {
  LabelledAnswers answers;  // of the pictures that could be read
  RunOnPictures(
      files, "class", *config.patches, config.labels, common, [&](const PictureWindow& window) {
        const std::vector<Classification> found = classifier.ClassifyPixels(window.pixels);
        size_t next = 0;
        for (size_t i = 0; i < window.names.size(); ++i) {
          const std::string& error = window.errors[i];
          const Classification& said = error.empty() ? found[next++] : kNothing;
          if (error.empty() && !window.labels.empty())
            answers.Add(said.classes.front().label, window.labels[i]);
          if (!common.json) {
            std::cout << ClassesToLine(said, top) << '\n';
            continue;
          }
          Json line = PictureToJson(window.names[i], said, error, top);
          if (!window.labels.empty()) line["label"] = window.labels[i];
          Print(line);
        }
      });
  TellRight(answers, "labelled picture", common.MakeLog());
}

// Texts or pictures, as the model reads.
void ClassifyFiles(const std::vector<std::string>& files,
                   const std::shared_ptr<const LoadedModel>& loaded, const CommonOptions& common,
                   int64_t top) {
  const Classifier classifier(loaded, common.ThreadCount());
  if (classifier.reads_pictures())
    return ClassifyPictures(files, classifier, loaded->config(), common, top);
  RunOnLines(files, common, loaded->source_vocabulary, [&](const LineWindows& lines) {
    const std::vector<Classification> found = classifier.Classify(lines.lines());
    for (size_t i = 0; i < found.size(); ++i)
      common.json ? Print(ClassificationToJson(lines.lines()[i], found[i], top))
                  : void(std::cout << ClassesToLine(found[i], top) << '\n');
    return std::ranges::count_if(found, &Classification::cut);
  });
}

}  // namespace

int RunClassify(const std::vector<std::string>& arguments) {
  CommonOptions common;
  ClassifyOptions options;
  std::vector<std::string> files;
  CommandLine command_line(
      "classify",
      "tell the class of texts, pictures or items with a model of classification "
      "or fusion",
      "attend classify --model MODEL names.txt\n"
      "echo \"Bonjour\" | attend classify --model MODEL --top 3 --json\n"
      "attend classify --model MODEL photo.jpg drawing.png\n"
      "attend classify --model MODEL t10k-images-idx3-ubyte.gz > classes.txt\n"
      "ls photos/*.jpg | attend classify --model MODEL\n"
      "attend classify --model MODEL items.jsonl --without text,links");
  command_line
      .Positional(
          "FILE", &files,
          "text, a line an item; none: standard input. Of a model of pictures: PNG or JPEG, or "
          "labelled pictures in any form that training takes; none: standard input has a path on "
          "each line. Of a model of fusion: JSON lines of id, text, picture (a path), links and "
          "label; where there are labels, the share that is right ends the log",
          /*required=*/false)
      .Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet", "json", "data_dir"}))
      .Required({"model"});
  if (!command_line.Parse(arguments)) return 0;
  const auto loaded = Load(
      options.model, {.type = options.type, .instruction_set = {}, .adapter = options.adapter});
  const int64_t top = options.classification.top;
  if (loaded->config().fusion) {
    const ItemClassifier classifier(loaded, common.ThreadCount());
    ClassifyItems(files, {classifier, loaded->config().fusion->patches, common}, top,
                  options.without);
    return 0;
  }
  if (!options.without.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--without is for a model of fusion, and the model's "
                            "task is {}; leave it out",
                            loaded->config().task));
  }
  ClassifyFiles(files, loaded, common, top);
  return 0;
}

}  // namespace attend
