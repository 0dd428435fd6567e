// The one vocabulary of a task whose text is all of a kind: given by a file or by the model to
// fine-tune, or made from the training text.
#ifndef ATTEND_TRAIN_TASKS_VOCABULARY_CHOICE_H_
#define ATTEND_TRAIN_TASKS_VOCABULARY_CHOICE_H_

#include <functional>
#include <memory>
#include <string>

#include "base/fields.h"
#include "text/vocabulary_trainer.h"

namespace attend {

struct ExportedRun;
struct TaskSetup;
struct TrainOptions;

// The options of it. No Torch here.
struct VocabularyChoice {
  // A vocabulary is made only where a size is given.
  VocabularyChoice() { made.size = 0; }

  FieldList FieldsFor(const TrainOptions& options);
  // Throws Error(kConfiguration) for two vocabularies, or none.
  void Check(const TrainOptions& options) const;
  bool Makes(const TrainOptions& options) const;

  std::string vocab;
  VocabularyOptions made;
};

// Every rank gets the same. Rank 0 makes it with `make`, or knows where it is. `choice` says its
// case afterwards. Throws Error(kConfiguration) for a given one of which the options say what is
// not true, or how it is to be made.
std::shared_ptr<const Vocabulary> VocabularyOf(const TaskSetup& setup, VocabularyChoice* choice,
                                               const std::function<std::string()>& make);

// Throws Error(kInput) where it is not what the run was trained with, under this name.
void CheckTrainedWith(const ExportedRun& run, const std::string& name,
                      const Vocabulary& vocabulary);

// As the run's directory keeps it. Throws Error(kInput) for another one than it was trained with.
std::shared_ptr<const Vocabulary> VocabularyOf(const ExportedRun& run);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_VOCABULARY_CHOICE_H_
