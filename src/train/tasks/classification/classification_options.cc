#include "train/tasks/classification/classification_options.h"

#include <fmt/format.h>

#include "attend/error.h"

namespace attend {
namespace {

// Options of what the model does not read.
void RefuseGiven(const std::string& given, const std::string& preset, const char* reads) {
  throw Error(ErrorKind::kConfiguration,
              fmt::format("{} is given, but preset {} reads {}; choose another preset, or leave it "
                          "out",
                          given, preset, reads));
}

// The first whose value is another one than in `defaults`, which are of the same struct; empty:
// none.
std::string FirstOther(const FieldList& fields, const FieldList& defaults) {
  for (const Field& field : fields.fields())
    if (field.ValueText() != defaults.Find(field.name)->ValueText()) return field.name;
  return "";
}

}  // namespace

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
  ClassificationTrainOptions own = *this, none;
  if (!options.model.patches) {
    const std::string given = FirstOther(Fields(own.pictures), Fields(none.pictures));
    if (!given.empty()) RefuseGiven(given, options.preset, "text");
    LabelOptions::Check(options);
    return;
  }
  const auto of_text = [&](ClassificationTrainOptions& each) {
    FieldList fields = each.FilesFields("");
    fields.Nest("", each.WordDropoutField()).Nest("", each.vocabulary.FieldsFor(options));
    return fields;
  };
  const std::string given = FirstOther(of_text(own), of_text(none));
  if (!given.empty()) RefuseGiven(given, options.preset, "pictures");
  CheckHead(options);
  pictures.Check(options);
}

std::vector<LabelledItem> ClassificationTrainOptions::Read(
    const std::vector<std::string>& files) const {
  return ReadTable(files);
}

}  // namespace attend
