#include "train/tasks/classification/classification_options.h"

namespace attend {

std::unique_ptr<TaskOptions> ClassificationOptions::Clone() const {
  return std::make_unique<ClassificationOptions>(*this);
}

FieldList ClassificationOptions::FieldsFor(const TrainOptions& options) {
  FieldList fields;
  fields.Nest("", FilesFields("lines of label, tab and text"))
      .Add("pooling", &pooling, {"first", "mean"},
           "a text's vector: its first token's, or the mean of all its tokens'", kIdentity)
      .Add("head_pooler", &head_pooler,
           "a dense layer and tanh between that vector and the labels, as BERT's", kIdentity)
      .Nest("", WordDropoutField())
      .Nest("", vocabulary.FieldsFor(options));
  return fields;
}

std::vector<LabelledItem> ClassificationOptions::Read(const std::vector<std::string>& files) const {
  return ReadTable(files);
}

}  // namespace attend
