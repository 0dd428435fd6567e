#include "train/tasks/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "attend/error.h"
#include "base/edit_distance.h"
#include "base/excerpt.h"
#include "train/tasks/classification/classification.h"
#include "train/tasks/fusion/fusion.h"
#include "train/tasks/language_model/language_model.h"
#include "train/tasks/masked_language_model/masked_language_model.h"
#include "train/tasks/parsing/parsing.h"
#include "train/tasks/tagging/tagging.h"
#include "train/tasks/transcription/transcription.h"
#include "train/tasks/translation/translation.h"

namespace attend {
namespace {

constexpr const TrainableTask& (*kTasks[])() = {
    TrainableTranslation,    TrainableLanguageModel, TrainableMaskedLanguageModel, TrainableTagging,
    TrainableClassification, TrainableParsing,       TrainableTranscription,       TrainableFusion,
};

}  // namespace

const TrainableTask& FindTask(const std::string& name) {
  for (const auto& task : kTasks) {
    if (task().info.name == name) return task();
  }
  const std::vector<std::string> names = TaskNames();
  throw Error(ErrorKind::kConfiguration,
              fmt::format("unknown task '{}', expected {}{}", Excerpt(name),
                          fmt::join(names, " or "), DidYouMean(name, names)));
}

std::vector<std::string> TaskNames() {
  std::vector<std::string> names;
  for (const auto& task : kTasks) names.push_back(task().info.name);
  return names;
}

}  // namespace attend
