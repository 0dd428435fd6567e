#include "train/tasks/translation/translation.h"

#include "train/tasks/translation/set_up_translation.h"
#include "train/tasks/translation/translation_export.h"
#include "train/tasks/translation/translation_train_options.h"

namespace attend {
namespace {

TaskInfo Describe() {
  TaskInfo info;
  info.name = "translation";
  info.encoder = info.decoder = true;
  info.validation_options = "valid_source and valid_target, or valid_text";
  info.validation = {{"loss", "loss"},
                     {"perplexity", "perplexity"},
                     {"bleu", "BLEU", /*high_is_better=*/true},
                     {"chrf", "chrF", /*high_is_better=*/true},
                     {"exact_match", "% exactly right", /*high_is_better=*/true},
                     {"denoising_loss", "loss of plain text with noise"}};
  info.charts = {{"Validation BLEU and chrF", "0 to 100, more is better", {"bleu", "chrf"}, 100}};
  info.test = {{"bleu", "BLEU", true},
               {"chrf", "chrF", true},
               {"chrf++", "chrF++", true},
               {"ter", "TER"},
               {"exact_match", "% exactly right", true},
               {"cut", "outputs cut at the maximum length"}};
  info.samples = "Sample translations";
  info.sample_input = "source";
  return info;
}

}  // namespace

const TrainableTask& TrainableTranslation() {
  static const TrainableTask task{
      Describe(),
      []() -> std::unique_ptr<TaskOptions> { return std::make_unique<TranslationTrainOptions>(); },
      SetUpTranslation, CompleteTranslationModel};
  return task;
}

}  // namespace attend
