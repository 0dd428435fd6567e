// Parsing as a training task: symbols of trees after the words of sentences, validation by the F1
// of brackets.
#ifndef ATTEND_TRAIN_TASKS_PARSING_PARSING_TASK_H_
#define ATTEND_TRAIN_TASKS_PARSING_PARSING_TASK_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/tagger.h"
#include "data/tree_corpus.h"
#include "data/word_dropout.h"
#include "train/tasks/text_task.h"

namespace attend {

struct Treebanks {
  TaskTexts texts() const { return {vocabulary, train, valid, test}; }

  std::shared_ptr<const Vocabulary> vocabulary;
  std::shared_ptr<const TreeCorpus> train, valid, test;  // null: none; test on rank 0 alone
  PunctuationWords punctuation;                          // of the training text
};

class ParsingTask : public TextTask {
 public:
  // The setup's options are complete.
  ParsingTask(const TaskSetup& setup, Treebanks text);

  const TaskInfo& info() const override;
  const ExampleSource& examples() const override;
  int64_t CountTargets(const Examples& examples) const override;
  double Work(const Example& example) const override;
  ValidationResult Validate() override;
  Json ForExport() const override;
  void Describe(const Log& log) const override;
  Json Plan(const CorpusReport& read) const override;

 protected:
  nn::LossSums LossOf(const Examples& examples,
                      const std::optional<nn::DropoutKey>& dropout) override;
  nn::DropoutKey KeyOf(const Shard& shard, uint64_t seed) const override;
  Json TestText(const TestSetting& setting) override;

 private:
  // Hidden states of the targets [R, D] and the ids that follow, on the device.
  struct Hidden {
    torch::Tensor hidden_RD, targets_R;
  };
  Hidden HiddenOf(const Examples& examples, const std::optional<nn::DropoutKey>& dropout);
  double ValidationLoss();
  std::vector<ParsedText> Parse(const std::shared_ptr<const Model>& model,
                                const std::vector<TreebankItem>& items) const;

  Treebanks text_;
  std::optional<WordDropout> dropped_;  // the training text, with hidden words
};

// As TrainableTask::set_up promises.
std::unique_ptr<TrainingTask> SetUpParsing(const TaskSetup& setup);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_PARSING_PARSING_TASK_H_
