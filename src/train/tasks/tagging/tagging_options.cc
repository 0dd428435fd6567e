#include "train/tasks/tagging/tagging_options.h"

#include "attend/error.h"

namespace attend {

std::unique_ptr<TaskOptions> TaggingOptions::Clone() const {
  return std::make_unique<TaggingOptions>(*this);
}

FieldList TaggingOptions::FieldsFor(const TrainOptions& options) {
  FieldList fields;
  fields.Nest("", FilesFields("columns (a word a line, empty lines between sentences)"))
      .Add("word_column", &columns.word, 0, 1000, "column of the words, from 1; 0: the last one",
           kIdentity)
      .Add("label_column", &columns.label, 0, 1000, "column of the labels, from 1; 0: the last one",
           kIdentity)
      .Add("scheme", &scheme, {"iob1", "iob2", "iobes", "none", "auto"},
           "how the model's labels spell entities; the text's are changed to it. none: labels are "
           "of another kind; auto: as in the training text",
           kIdentity)
      .Add("crf", &crf,
           "a conditional random field: learn scores of labels that follow each other, and choose "
           "a sentence's labels together",
           kIdentity)
      .Nest("", WordDropoutField())
      .Nest("", vocabulary.FieldsFor(options));
  return fields;
}

void TaggingOptions::Check(const TrainOptions& options) const {
  LabelOptions::Check(options);
  CheckSmoothing(options);
}

void TaggingOptions::CheckSmoothing(const TrainOptions& options) const {
  if (crf && options.optimization.label_smoothing > 0) {
    throw Error(ErrorKind::kConfiguration,
                "label_smoothing is for labels by themselves, but crf is on; set label_smoothing "
                "to 0");
  }
}

std::vector<LabelledItem> TaggingOptions::Read(const std::vector<std::string>& files) const {
  return ReadColumns(files, columns);
}

}  // namespace attend
