#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attend/error.h"
#include "base/counted.h"
#include "base/excerpt.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "text/utf8.h"
#include "train/tasks/classification/classification_options.h"
#include "train/tasks/classification/picture_task.h"

namespace attend {
namespace {

// As many digits as a reader of config.json wants to see.
std::vector<double> Rounded(std::vector<double> numbers, double least) {
  for (double& number : numbers) number = std::max(std::round(number * 1e4) / 1e4, least);
  return numbers;
}

// What does not hang on the pictures. Throws as CheckModelConfig does, before they are decoded.
void CompleteShape(const TaskSetup& setup) {
  ModelConfig& model = setup.options->model;
  model.head = HeadKind::kLabels;
  model.head_bias = model.head_transform = false;
  model.source_vocab_size = model.target_vocab_size = 0;
  if (setup.init == nullptr && !setup.settings->is_given("encoder.max_positions"))
    model.encoder->max_positions = model.patches->rows() + model.encoder->position_offset;
  ModelConfig with_labels = model;
  with_labels.labels = {"one", "another"};
  CheckModelConfig(with_labels);
}

// What pictures' numbers become, where options and the model to fine-tune leave it open.
void CompleteNumbers(const TaskSetup& setup, const PictureSurvey& survey) {
  constexpr double kLeastDeviation = 1e-4;
  if (setup.init != nullptr) return;
  ModelConfig& model = setup.options->model;
  if (!setup.settings->is_given("patches.mean")) model.patches->mean = Rounded(survey.mean, 0);
  if (!setup.settings->is_given("patches.deviation"))
    model.patches->deviation = Rounded(survey.deviation, kLeastDeviation);
}

// Draws what is held out of the training pictures, and what of the others is learned from.
struct Division {
  std::vector<int64_t> train, valid;
};

Division Divide(std::vector<int64_t> kept, const PictureOptions& options) {
  constexpr uint64_t kDivisionKey = 0x64697669;  // "divi"
  const int64_t needed = options.valid_count + std::max<int64_t>(options.train_count, 1);
  if (std::ssize(kept) < needed) {
    throw Error(ErrorKind::kInput,
                fmt::format("there are {} training pictures, expected at least {} for valid_count "
                            "and train_count",
                            kept.size(), needed));
  }
  Random{kDivisionKey}.Shuffle(&kept);
  const auto valid_end = kept.begin() + options.valid_count;
  const auto train_end = options.train_count > 0 ? valid_end + options.train_count : kept.end();
  Division division{{valid_end, train_end}, {kept.begin(), valid_end}};
  std::ranges::sort(division.train);
  std::ranges::sort(division.valid);
  return division;
}

struct SurveyedPictures {
  std::shared_ptr<const PictureSet> set;
  PictureSurvey survey;
};

SurveyedPictures Open(const TaskSetup& setup, const std::vector<std::string>& paths,
                      const std::vector<std::string>& label_names) {
  PictureSetOptions options;
  options.channels = setup.options->model.patches->channels;
  options.label_names = label_names;
  SurveyedPictures pictures{OpenPictures(paths, options), {}};
  ThreadPool pool(setup.settings->threads);
  pictures.survey = SurveyPictures(*pictures.set, &pool);
  if (const std::string left_out = LeftOutMessage(pictures.survey); !left_out.empty())
    setup.log(LogLevel::kWarning, left_out);
  return pictures;
}

// config.json holds them.
void CheckLabels(const PictureSet& pictures) {
  for (int64_t i = 0; i < pictures.size(); ++i) {
    const std::string& label = pictures.label_names()[pictures.label(i)];
    if (IsValidUtf8(label)) continue;
    throw Error(ErrorKind::kInput,
                fmt::format("the label '{}' of '{}' is not UTF-8, which labels are; rename its "
                            "folder, or write its table in UTF-8",
                            Excerpt(label), Printable(pictures.name(i))));
  }
}

bool KnowsAny(const std::vector<std::string>& known, const std::vector<std::string>& labels) {
  return std::ranges::any_of(labels, [&](const std::string& label) {
    return std::ranges::find(known, label) != known.end();
  });
}

// The training pictures, with the labels of the model to fine-tune. Where it knows none of theirs,
// or label_names are given, with their own, for which a new head is trained: where it knows some,
// another one may be a typing error.
SurveyedPictures OpenTraining(const TaskSetup& setup, const PictureOptions& own) {
  const std::vector<std::string>& known = setup.options->model.labels;
  if (known.empty()) return Open(setup, own.train, own.label_names);
  if (setup.init == nullptr) return Open(setup, own.train, known);
  std::string why = "label_names are given";
  if (own.label_names.empty() || own.label_names == known) {
    try {
      return Open(setup, own.train, known);
    } catch (const Error& error) {
      why = error.what();
    }
  }
  // Throws again where it was not the labels.
  SurveyedPictures pictures = Open(setup, own.train, own.label_names);
  if (own.label_names.empty() && KnowsAny(known, pictures.set->label_names())) {
    throw Error(ErrorKind::kInput,
                fmt::format("{}; give label_names to train a new head for other labels than those "
                            "of the model in '{}'",
                            why, setup.options->init));
  }
  setup.log(LogLevel::kWarning,
            fmt::format("the training pictures have other labels than the model in '{}' ({}); its "
                        "head is left out, and a new one is trained for {}",
                        setup.options->init, why,
                        Counted(std::ssize(pictures.set->label_names()), "label")));
  return pictures;
}

}  // namespace

std::unique_ptr<TrainingTask> SetUpPictures(const TaskSetup& setup) {
  TrainOptions& options = *setup.options;
  ModelConfig& model = options.model;
  const PictureOptions& own = dynamic_cast<ClassificationTrainOptions&>(*options.task).pictures;
  CompleteShape(setup);
  SurveyedPictures train = OpenTraining(setup, own);
  CheckLabels(*train.set);
  model.labels = train.set->label_names();
  if (model.labels.size() < 2) {
    throw Error(ErrorKind::kInput, fmt::format("the training pictures have the label '{}' alone, "
                                               "expected at least two",
                                               model.labels[0]));
  }
  CompleteNumbers(setup, train.survey);
  CheckModelConfig(model);
  const PictureCorpusOptions reading{*model.patches, static_cast<uint64_t>(options.seed),
                                     own.augmentation, own.mixing};
  const auto corpus = [&](SurveyedPictures pictures) {
    return std::make_shared<const PictureCorpus>(std::move(pictures.set),
                                                 std::move(pictures.survey), reading);
  };
  const auto further = [&](const std::vector<std::string>& paths) {
    return paths.empty() ? nullptr : corpus(Open(setup, paths, model.labels));
  };
  PictureCorpora pictures;
  const Division division = Divide(train.survey.kept, own);
  const auto part = [&](const std::vector<int64_t>& kept, std::vector<LeftOutPicture> left_out) {
    SurveyedPictures some = train;
    some.survey.kept = kept;
    some.survey.left_out = std::move(left_out);
    return corpus(std::move(some));
  };
  pictures.train = part(division.train, train.survey.left_out);
  pictures.valid = own.valid_count > 0 ? part(division.valid, {}) : further(own.valid);
  if (setup.group->first()) pictures.test = further(own.test);
  return std::make_unique<PictureTask>(setup, std::move(pictures));
}

}  // namespace attend
