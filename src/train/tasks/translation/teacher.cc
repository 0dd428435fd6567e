#include "train/tasks/translation/teacher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <vector>

#include "attend/error.h"
#include "model/model_directory.h"
#include "model/quantize.h"
#include "nn/int8_rounding.h"
#include "text/target_order.h"
#include "train/tasks/run_model.h"
#include "train/tasks/translation/translation_task.h"
#include "train/tasks/translation/translation_train_options.h"

namespace attend {
namespace {

[[noreturn]] void RefuseTeacher(const std::string& directory, const std::string& why) {
  throw Error(ErrorKind::kInput, fmt::format("teacher: the model in '{}' {}", directory, why));
}

bool SameFrames(const TextFrame& a, const TextFrame& b) {
  return a.begin == b.begin && a.end == b.end;
}

// Of the same languages, where both name them, and of the same order of tokens.
void CheckSameTask(const Model& teacher, const TrainOptions& options) {
  const std::string& directory = TranslationOf(options).teacher;
  const std::vector<std::string>&has = teacher.config.languages, &wanted = options.model.languages;
  if (!has.empty() && !wanted.empty() && has != wanted) {
    RefuseTeacher(directory,
                  fmt::format("translates from {}, expected from {}, the student's languages",
                              fmt::join(has, " to "), fmt::join(wanted, " to ")));
  }
  const bool order = WritesRightToLeft(teacher.tokenization);
  if (order == TranslationOf(options).corpus.right_to_left) return;
  RefuseTeacher(directory, fmt::format("writes from {}, expected the order of the student "
                                       "(right_to_left)",
                                       order ? "right to left" : "left to right"));
}

void CheckTeacher(const Model& teacher, const TrainOptions& options,
                  const Vocabularies& vocabularies) {
  const std::string& directory = TranslationOf(options).teacher;
  if (teacher.config.task != "translation")
    RefuseTeacher(directory,
                  fmt::format("is of task {}, expected translation", teacher.config.task));
  if (IsInt8(teacher))
    RefuseTeacher(directory, "has int8 weights; name the f32 model that it was made of");
  if (teacher.source_vocabulary != vocabularies.source->bytes() ||
      teacher.target_vocabulary != vocabularies.target->bytes()) {
    const bool joint = teacher.source_vocabulary == teacher.target_vocabulary;
    RefuseTeacher(
        directory,
        fmt::format("has other vocabularies than the student, expected the same; set {1} to "
                    "'{0}/{2}' and leave vocab_size out",
                    directory, joint ? "vocab" : "source_vocab and target_vocab",
                    joint ? "vocab.spm" : "source.spm' and '" + directory + "/target.spm"));
  }
  if (!SameFrames(teacher.config.SourceFrame(), options.model.SourceFrame()) ||
      !SameFrames(teacher.config.TargetFrame(), options.model.TargetFrame()))
    RefuseTeacher(directory,
                  "reads other tokens around a text than the student (source_begin, source_end, "
                  "target_begin); expected the same");
  CheckSameTask(teacher, options);
  CheckFilters(TranslationOf(options).corpus.filters, teacher.config);
}

}  // namespace

std::unique_ptr<const TranslationTeacher> TranslationTeacher::Load(const TrainOptions& options,
                                                                   const Vocabularies& vocabularies,
                                                                   const torch::Device& device) {
  const TranslationTrainOptions& own = TranslationOf(options);
  if (own.teacher.empty()) return nullptr;
  const std::shared_ptr<const Model> model = LoadModel(own.teacher);
  CheckTeacher(*model, options, vocabularies);
  std::unique_ptr<TranslationTeacher> teacher(new TranslationTeacher);
  teacher->model_ = SequenceModelOf(*model, device);
  teacher->digest_ = model->tensor_digest;
  teacher->share_ = own.distillation_weight;
  teacher->temperature_ = own.distillation_temperature;
  return teacher;
}

nn::Teacher TranslationTeacher::Of(const std::variant<PackedPairs, PaddedPairs>& ids) const {
  const torch::NoGradGuard no_grad;
  const nn::Int8Rounding exact(false);
  torch::Tensor hidden_RD;
  if (const auto* packed = std::get_if<PackedPairs>(&ids)) {
    hidden_RD = model_->PackedHidden(packed->source, packed->target_in, std::nullopt);
  } else {
    const auto& padded = std::get<PaddedPairs>(ids);
    hidden_RD = model_->PaddedHidden(padded.source_BS, padded.target_in_BT, padded.source_padded)
                    .flatten(0, 1)
                    .index_select(0, padded.target_rows_R);
  }
  return {hidden_RD, model_->OutputWeight().detach(), model_->OutputBias(), share_, temperature_};
}

}  // namespace attend
