#include "train/tasks/language_model/language_model_options.h"

#include <fmt/format.h>

#include <utility>

#include "attend/error.h"
#include "train/tasks/text_files.h"

namespace attend {
namespace {

[[noreturn]] void RefuseOption(const std::string& message) {
  throw Error(ErrorKind::kConfiguration, message);
}

}  // namespace

std::unique_ptr<TaskOptions> LanguageModelOptions::Clone() const {
  return std::make_unique<LanguageModelOptions>(*this);
}

FieldList LanguageModelOptions::FieldsFor(const TrainOptions& options) {
  FieldList fields;
  fields.Group("Text")
      .Add("train_text", &train_text,
           "plain text to train on; several files are one text, in this order", kPath | kRequired)
      .Add("valid_text", &valid_text, "plain text to validate on", kPath)
      .Add("test_text", &test_text, "plain text to score the finished model on", kPath)
      .Nest("", Fields(context), kIdentity)
      .Nest("", vocabulary.FieldsFor(options));
  return fields;
}

void LanguageModelOptions::Check(const TrainOptions& options) const {
  if (const size_t count = options.model.languages.size(); count > 1)
    RefuseOption(fmt::format("languages holds {}, expected the one of the text", count));
  if (train_text.empty()) RefuseOption("train_text is needed");
  CheckNotStandardInput("train_text", train_text);
  CheckNotStandardInput("valid_text", valid_text);
  CheckNotStandardInput("test_text", test_text);
  vocabulary.Check(options);
  if (options.optimization.r_drop > 0) RefuseOption("r_drop is for translation; leave it out");
}

LanguageModelOptions& LanguageModelOf(TrainOptions& options) {
  return dynamic_cast<LanguageModelOptions&>(*options.task);
}

const LanguageModelOptions& LanguageModelOf(const TrainOptions& options) {
  return dynamic_cast<const LanguageModelOptions&>(*options.task);
}

}  // namespace attend
