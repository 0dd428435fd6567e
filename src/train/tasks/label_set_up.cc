#include <fmt/format.h>

#include <utility>

#include "attend/error.h"
#include "tasks/encoder_runner.h"
#include "text/text_words.h"
#include "train/tasks/label_options.h"
#include "train/tasks/label_task.h"
#include "train/tasks/run_model.h"
#include "train/tasks/text_files.h"

namespace attend {
namespace {

std::string MakeVocabulary(const TaskSetup& setup, const std::vector<LabelledItem>& items) {
  size_t item = 0;
  const NextLine next = [&](std::string* line) {
    if (item == items.size()) return false;
    *line = JoinWords(items[item++].words);
    return true;
  };
  return TrainVocabulary(next, LabelOptionsOf(*setup.options).vocabulary.made,
                         static_cast<uint64_t>(setup.options->seed), setup.log);
}

}  // namespace

LabelledTexts ReadTexts(const TaskSetup& setup) {
  const LabelOptions& own = LabelOptionsOf(*setup.options);
  for (const auto* files : {&own.train, &own.valid, &own.test})
    CheckReadable(*files, FormatCheck::kText);
  const auto read = [&](const std::vector<std::string>& files) {
    return files.empty() ? std::vector<LabelledItem>() : own.Read(files);
  };
  return {read(own.train), read(own.valid), read(own.test)};
}

LabelCorpora SetUpLabelCorpora(const TaskSetup& setup, LabelledTexts texts) {
  TrainOptions& options = *setup.options;
  ModelConfig& model = options.model;
  model.head = HeadKind::kLabels;
  model.head_bias = model.head_transform = false;
  if (model.labels.empty()) {
    model.labels = model.label_scheme == LabelScheme::kNone
                       ? LabelsIn(texts.train)
                       : LabelsOfScheme(texts.train, model.label_scheme);
  }
  if (model.labels.size() < 2) {
    throw Error(ErrorKind::kInput, fmt::format("the training text has the label '{}' alone, "
                                               "expected at least two",
                                               model.labels[0]));
  }
  CheckShape(model);
  LabelOptions& own = LabelOptionsOf(options);
  LabelCorpora text;
  text.vocabulary =
      VocabularyOf(setup, &own.vocabulary, [&] { return MakeVocabulary(setup, texts.train); });
  model.source_vocab_size = model.target_vocab_size = text.vocabulary->size();
  model.special_ids = text.vocabulary->special_ids();
  CheckModelConfig(model);
  const auto encode = [&](const std::vector<std::string>& files, std::vector<LabelledItem>* items) {
    return files.empty()
               ? nullptr
               : std::make_shared<const LabelledCorpus>(
                     files, text.vocabulary, std::move(*items), model.labels,
                     LabelledOptions{model.pooling == Pooling::kTokens, MaxEncoderTokens(model)});
  };
  text.train = encode(own.train, &texts.train);
  text.valid = encode(own.valid, &texts.valid);
  if (setup.group->first()) text.test = encode(own.test, &texts.test);
  return text;
}

}  // namespace attend
