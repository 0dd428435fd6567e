// The options of training a model of fusion.
#ifndef ATTEND_TRAIN_TASKS_FUSION_FUSION_OPTIONS_H_
#define ATTEND_TRAIN_TASKS_FUSION_FUSION_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "media/augmentation.h"
#include "train/task_options.h"
#include "train/tasks/vocabulary_choice.h"
#include "train/train_options.h"

namespace attend {

struct FusionOptions : TaskOptions {
  std::unique_ptr<TaskOptions> Clone() const override;
  FieldList FieldsFor(const TrainOptions& options) override;
  void Check(const TrainOptions& options) const override;
  bool validates() const override { return !valid.empty(); }

  std::vector<std::string> train, valid, test;
  std::vector<std::string> graph;  // files of triples; empty: there is none
  int64_t graph_width = 64;
  int64_t graph_layers = 2;
  int64_t graph_bases = 4;
  double node_dropout = 0.5;
  double input_dropout = 0.3;
  double single_input_weight = 0;
  double contrastive_weight = 0;
  AugmentationOptions augmentation;
  VocabularyChoice vocabulary;
};

// Precondition: the task of `options` is fusion.
FusionOptions& FusionOptionsOf(TrainOptions& options);
const FusionOptions& FusionOptionsOf(const TrainOptions& options);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_FUSION_FUSION_OPTIONS_H_
