#include "train/tasks/parsing/parsing_train_options.h"

#include "attend/error.h"
#include "tasks/parsing/parsing_options.h"
#include "train/tasks/text_files.h"

namespace attend {

std::unique_ptr<TaskOptions> ParsingTrainOptions::Clone() const {
  return std::make_unique<ParsingTrainOptions>(*this);
}

FieldList ParsingTrainOptions::FieldsFor(const TrainOptions& options) {
  FieldList fields;
  fields.Group("Text")
      .Add("train_trees", &train,
           "bracketed trees to train on, as the Penn Treebank has them; several files are one text",
           kPath | kRequired)
      .Add(
          "train_weights", &weights, 1e-6, 1000,
          "how often an epoch uses each file of train_trees, such as 1, 0.25 or 3; below 1, a part "
          "of the trees is left out, in each epoch another one",
          kIdentity)
      .Add("valid_trees", &valid, "bracketed trees to validate on", kPath)
      .Add("test_trees", &test, "bracketed trees to score the finished model on", kPath)
      .Group("Model")
      .Add("tree_tags", &tags, {"all", "punctuation"},
           "symbols that stand for words: all tags; or those of punctuation, and XX for all others",
           kIdentity)
      .Add("next_word", &next_word,
           "the decoder's input has the encoder's vector of the next word added, so that it need "
           "not learn which word that is",
           kIdentity)
      .Group("Dropout and loss")
      .Add("word_dropout", &word_dropout, 0, 0.999,
           "share of the words of training that are hidden, in each epoch other ones, so that a "
           "word's neighbours count")
      .Group("Validation")
      .Nest("", Fields(search).Select({"beam_size", "length_penalty"}))
      .Nest("", vocabulary.FieldsFor(options));
  return fields;
}

void ParsingTrainOptions::Check(const TrainOptions& options) const {
  const auto refuse = [](const char* message) { throw Error(ErrorKind::kConfiguration, message); };
  CheckOneText(options);
  if (train.empty()) refuse("train_trees is needed");
  CheckWeights(weights, "train_trees", train.size());
  CheckNotStandardInput("train_trees", train);
  CheckNotStandardInput("valid_trees", valid);
  CheckNotStandardInput("test_trees", test);
  vocabulary.Check(options);
  if (!TellsTagsApart() && options.run.early_stopping_metric == "tagging_accuracy") {
    refuse(
        "early_stopping_metric is tagging_accuracy, but tree_tags is punctuation: tags that are "
        "not told apart have no accuracy; choose f1");
  }
}

ParsingTrainOptions& ParsingOf(TrainOptions& options) {
  return dynamic_cast<ParsingTrainOptions&>(*options.task);
}

const ParsingTrainOptions& ParsingOf(const TrainOptions& options) {
  return dynamic_cast<const ParsingTrainOptions&>(*options.task);
}

}  // namespace attend
