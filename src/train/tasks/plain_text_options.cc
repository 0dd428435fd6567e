#include <fmt/format.h>

#include "attend/error.h"
#include "train/tasks/plain_text.h"
#include "train/tasks/text_files.h"
#include "train/train_options.h"

namespace attend {

FieldList PlainTextOptions::FieldsFor(const TrainOptions& options) {
  FieldList fields;
  fields.Group("Text")
      .Add("train_text", &train_text,
           "plain text to train on; several files are one text, in this order", kPath | kRequired)
      .Add("valid_text", &valid_text, "plain text to validate on", kPath)
      .Add("test_text", &test_text, "plain text to score the finished model on", kPath)
      .Add("stream", &stream, "read the training text from disk during training, in bounded memory",
           kIdentity)
      .Add("shuffle_buffer", &shuffle_buffer, 1, 1e9,
           "number of lines of streamed text that are shuffled together", kIdentity)
      .Nest("", Fields(context), kIdentity)
      .Nest("", vocabulary.FieldsFor(options));
  return fields;
}

void PlainTextOptions::Check(const TrainOptions& options) const {
  CheckOneText(options);
  if (train_text.empty()) throw Error(ErrorKind::kConfiguration, "train_text is needed");
  CheckNotStandardInput("train_text", train_text);
  CheckNotStandardInput("valid_text", valid_text);
  CheckNotStandardInput("test_text", test_text);
  vocabulary.Check(options);
  CheckDependents(options, {{"shuffle_buffer", stream, "stream"}});
}

}  // namespace attend
