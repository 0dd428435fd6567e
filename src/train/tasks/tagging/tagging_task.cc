#include "train/tasks/tagging/tagging_task.h"

#include <fmt/format.h>

#include <utility>

#include "attend/error.h"
#include "attend/tagger.h"
#include "base/files.h"
#include "metrics/entities.h"
#include "tasks/tagging/label_transitions.h"
#include "text/text_words.h"
#include "train/tasks/run_model.h"
#include "train/tasks/tagging/tagging.h"
#include "train/tasks/tagging/tagging_options.h"

namespace attend {
namespace {

bool IsEntityFigure(const std::string& name) {
  return name == "f1" || name == "precision" || name == "recall";
}

// `found`: that of the training text.
LabelScheme Chosen(SchemeChoice choice, LabelScheme found) {
  switch (choice) {
    case SchemeChoice::kIob1:
      return LabelScheme::kIob1;
    case SchemeChoice::kIob2:
      return LabelScheme::kIob2;
    case SchemeChoice::kIobes:
      return LabelScheme::kIobes;
    case SchemeChoice::kNone:
      return LabelScheme::kNone;
    default:
      return found;
  }
}

// Decides the scheme of the model's labels, and spells the text's in it.
void ChooseScheme(const TaskSetup& setup, LabelledTexts* texts) {
  ModelConfig& model = setup.options->model;
  const auto chosen = dynamic_cast<const TaggingOptions&>(*setup.options->task).scheme;
  const LabelScheme found = SchemeOf(texts->train);
  LabelScheme scheme = Chosen(chosen, found);
  if (found == LabelScheme::kNone && scheme != LabelScheme::kNone) {
    throw Error(ErrorKind::kInput,
                "a scheme is given, but the labels of the training text are none of entities; "
                "expected O, or B, I, E or S, a '-' and a type");
  }
  if (!model.labels.empty()) {  // of the model to fine-tune
    if (chosen != SchemeChoice::kAuto && scheme != model.label_scheme)
      throw Error(ErrorKind::kConfiguration,
                  "scheme is not the one of the model to fine-tune; leave it out");
    scheme = model.label_scheme;
  }
  model.label_scheme = scheme;
  if (scheme == LabelScheme::kNone) {
    if (IsEntityFigure(setup.options->run.early_stopping_metric)) {
      throw Error(ErrorKind::kConfiguration,
                  "early_stopping_metric is of entities, but the labels are of another kind; take "
                  "accuracy or loss");
    }
    return;
  }
  for (auto* items : {&texts->train, &texts->valid, &texts->test}) {
    if (items->empty()) continue;
    const LabelScheme own = SchemeOf(*items);
    // A model of kIob takes labels of B and I as they are.
    const bool fits = scheme == LabelScheme::kIob && own != LabelScheme::kIobes;
    if (own != LabelScheme::kNone && !fits) ChangeScheme(scheme, items);
  }
}

// "[LOC New York] is large", or "the/DET cat/NOUN".
std::string ShowLabels(const std::vector<std::string>& words,
                       const std::vector<std::string>& labels, bool entities) {
  std::string shown;
  if (!entities) {
    for (size_t i = 0; i < words.size(); ++i)
      shown += fmt::format("{}{}/{}", i > 0 ? " " : "", words[i], labels[i]);
    return shown;
  }
  const std::vector<Entity> found = EntitiesOf(labels);
  auto next = found.begin();
  for (int64_t i = 0; i < std::ssize(words); ++i) {
    if (i > 0) shown += ' ';
    if (next != found.end() && next->begin == i) shown += fmt::format("[{} ", next->type);
    shown += words[i];
    if (next != found.end() && next->end == i + 1) {
      shown += ']';
      ++next;
    }
  }
  return shown;
}

Json CountsOf(const EntityCounts& counts) {
  return {{"f1", counts.f1()},     {"precision", counts.precision()}, {"recall", counts.recall()},
          {"found", counts.found}, {"expected", counts.expected},     {"right", counts.right}};
}

std::vector<std::vector<std::string>> LabelsOfItems(const std::vector<LabelledItem>& items) {
  std::vector<std::vector<std::string>> labels;
  for (const LabelledItem& item : items) labels.push_back(item.labels);
  return labels;
}

}  // namespace

const TaskInfo& TaggingTask::info() const { return TrainableTagging().info; }

void TaggingTask::BeginPrediction() {
  transitions_ = TransitionsOf(config(), CopyTensors(*transformer_->head, "head."));
}

std::vector<int32_t> TaggingTask::Choose(std::span<const float> scores_TL) const {
  return BestLabels(scores_TL, transitions_).labels;
}

std::map<std::string, double> TaggingTask::Figures(const std::vector<LabelledItem>& items,
                                                   const Predictions& found) const {
  std::vector<std::vector<std::string>> names;
  for (const std::vector<int32_t>& labels : found) names.push_back(NamesOf(labels));
  const EntityScores scores = ScoreEntities(names, LabelsOfItems(items));
  std::map<std::string, double> figures = {{"accuracy", scores.accuracy()}};
  if (config().label_scheme == LabelScheme::kNone) return figures;
  figures["f1"] = scores.all.f1();
  figures["precision"] = scores.all.precision();
  figures["recall"] = scores.all.recall();
  return figures;
}

ValidationResult::Sample TaggingTask::SampleOf(const LabelledItem& item,
                                               const std::vector<int32_t>& found) const {
  const bool entities = config().label_scheme != LabelScheme::kNone;
  return {JoinWords(item.words), ShowLabels(item.words, item.labels, entities),
          ShowLabels(item.words, NamesOf(found), entities)};
}

// Keeps the words, their labels and the model's in columns.
Json TaggingTask::TestModel(const TestSetting& setting, const std::vector<LabelledItem>& items) {
  const Tagger tagger(setting.model, {.threads = threads_});
  std::vector<std::vector<std::string>> sentences, found;
  for (const LabelledItem& item : items) sentences.push_back(item.words);
  std::string columns;
  for (const TaggedText& tagged : tagger.TagWords(sentences)) {
    const LabelledItem& item = items[found.size()];
    std::vector<std::string>& labels = found.emplace_back();
    for (size_t i = 0; i < item.words.size(); ++i) {
      labels.push_back(tagged.words[i].label);
      columns += fmt::format("{}\t{}\t{}\n", item.words[i], item.labels[i], labels[i]);
    }
    columns += '\n';
  }
  WriteFileAtomically(setting.output / "test_output.txt", columns);
  const EntityScores scores = ScoreEntities(found, LabelsOfItems(items));
  Json result = {{"accuracy", scores.accuracy()}};
  if (config().label_scheme == LabelScheme::kNone) return result;
  result.update(CountsOf(scores.all));
  for (const auto& [type, counts] : scores.by_type) result["types"][type] = CountsOf(counts);
  return result;
}

std::unique_ptr<TrainingTask> SetUpTagging(const TaskSetup& setup) {
  auto& own = dynamic_cast<TaggingOptions&>(*setup.options->task);
  TakeHeadOption(setup, "crf", &own.crf, &setup.options->model.crf);
  own.CheckSmoothing(*setup.options);
  LabelledTexts texts = ReadTexts(setup);
  ChooseScheme(setup, &texts);
  return std::make_unique<TaggingTask>(setup, SetUpLabelCorpora(setup, std::move(texts)));
}

}  // namespace attend
