#include "train/tasks/label_options.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "train/tasks/text_files.h"

namespace attend {

void LabelOptions::Check(const TrainOptions& options) const {
  CheckOneText(options);
  if (train.empty())
    throw Error(ErrorKind::kConfiguration, fmt::format("train_{} is needed", kind()));
  CheckNotStandardInput(("train_" + kind()).c_str(), train);
  CheckNotStandardInput(("valid_" + kind()).c_str(), valid);
  CheckNotStandardInput(("test_" + kind()).c_str(), test);
  vocabulary.Check(options);
  CheckHead(options);
}

void LabelOptions::CheckHead(const TrainOptions& options) {
  const auto refuse = [](const char* message) { throw Error(ErrorKind::kConfiguration, message); };
  if (options.model.head_bias)
    refuse("head_bias is on, but it is for a vocabulary: labels always have a bias; leave it out");
  if (!options.model.tie_target_output) {
    refuse(
        "tie_target_output is off, but it is for a vocabulary: labels have weights of their "
        "own; leave it out");
  }
}

FieldList LabelOptions::FilesFields(const std::string& what, Traits of_train) {
  FieldList fields;
  fields.Group("Text")
      .Add("train_" + kind(), &train, what + " to train on; several files are one text",
           kPath | of_train)
      .Add("valid_" + kind(), &valid, what + " to validate on", kPath)
      .Add("test_" + kind(), &test, what + " to score the finished model on", kPath);
  return fields;
}

FieldList LabelOptions::WordDropoutField() {
  FieldList fields;
  fields.Group("Dropout and loss")
      .Add("word_dropout", &word_dropout, 0, 0.999,
           "share of the words of training that are hidden, in each epoch other ones, so that a "
           "word's neighbours count");
  return fields;
}

LabelOptions& LabelOptionsOf(TrainOptions& options) {
  return dynamic_cast<LabelOptions&>(*options.task);
}

const LabelOptions& LabelOptionsOf(const TrainOptions& options) {
  return dynamic_cast<const LabelOptions&>(*options.task);
}

}  // namespace attend
