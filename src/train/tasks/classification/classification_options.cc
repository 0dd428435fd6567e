#include "train/tasks/classification/classification_options.h"

#include <fmt/format.h>

#include "attend/error.h"

namespace attend {

std::unique_ptr<TaskOptions> ClassificationTrainOptions::Clone() const {
  return std::make_unique<ClassificationTrainOptions>(*this);
}

FieldList ClassificationTrainOptions::FieldsFor(const TrainOptions& options) {
  FieldList fields;
  fields.Nest("", FilesFields("lines of label, tab and text", 0))
      .Nest("", Fields(pictures))
      .Add("pooling", &pooling, {"first", "mean"},
           "a text's vector: its first token's, or the mean of all its tokens'", kIdentity)
      .Add("head_pooler", &head_pooler,
           "a dense layer and tanh between that vector and the labels, as BERT's", kIdentity)
      .Nest("", WordDropoutField())
      .Nest("", vocabulary.FieldsFor(options));
  return fields;
}

void ClassificationTrainOptions::Check(const TrainOptions& options) const {
  const auto refuse = [&](const char* given, const char* reads) {
    throw Error(
        ErrorKind::kConfiguration,
        fmt::format("{} is given, but preset {} reads {}; choose another preset, or leave it "
                    "out",
                    given, options.preset, reads));
  };
  if (!options.model.patches) {
    if (pictures.any()) refuse("train_pictures, valid_pictures or test_pictures", "text");
    LabelOptions::Check(options);
    return;
  }
  if (!train.empty() || !valid.empty() || !test.empty())
    refuse("train_table, valid_table or test_table", "pictures");
  if (word_dropout > 0) refuse("word_dropout", "pictures");
  if (!vocabulary.vocab.empty()) refuse("vocab", "pictures");
  if (vocabulary.made.size > 0) refuse("vocab_size", "pictures");
  pictures.Check(options);
}

std::vector<LabelledItem> ClassificationTrainOptions::Read(
    const std::vector<std::string>& files) const {
  return ReadTable(files);
}

}  // namespace attend
