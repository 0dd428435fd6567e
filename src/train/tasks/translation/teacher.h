// The model that a student learns from while it trains: word-level distillation.
#ifndef ATTEND_TRAIN_TASKS_TRANSLATION_TEACHER_H_
#define ATTEND_TRAIN_TASKS_TRANSLATION_TEACHER_H_

#include <memory>
#include <string>
#include <variant>

#include "attend/nn/loss.h"
#include "attend/nn/sequence_model.h"
#include "attend/nn/torch.h"
#include "train/tasks/pair_batch.h"
#include "train/tasks/translation/vocabularies.h"
#include "train/train_options.h"

namespace attend {

// Immutable, and safe to use from many threads.
class TranslationTeacher {
 public:
  // The model that the options name, on the device; null where they name none. Throws Error(kInput)
  // or Error(kConfiguration) for one that does not read what the student reads: another task,
  // other vocabularies, other tokens around texts, positions that end too early; or int8 weights.
  static std::unique_ptr<const TranslationTeacher> Load(const TrainOptions& options,
                                                        const Vocabularies& vocabularies,
                                                        const torch::Device& device);

  // What it says of a batch, without dropout and without gradients.
  nn::Teacher Of(const std::variant<PackedPairs, PaddedPairs>& ids) const;
  // SHA-256 of its weights.
  const std::string& digest() const { return digest_; }

 private:
  TranslationTeacher() = default;

  std::shared_ptr<nn::SequenceModelImpl> model_;
  std::string digest_;
  double share_ = 0, temperature_ = 1;
};

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TRANSLATION_TEACHER_H_
