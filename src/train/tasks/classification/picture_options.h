// The pictures that a model of classification learns from.
#ifndef ATTEND_TRAIN_TASKS_CLASSIFICATION_PICTURE_OPTIONS_H_
#define ATTEND_TRAIN_TASKS_CLASSIFICATION_PICTURE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "media/augmentation.h"
#include "media/mixing.h"

namespace attend {

struct TrainOptions;

struct PictureOptions {
  // Throws Error(kConfiguration) for options that contradict each other.
  void Check(const TrainOptions& options) const;
  bool validates() const { return !valid.empty() || valid_count > 0; }

  std::vector<std::string> train, valid, test;
  std::vector<std::string> label_names;
  int64_t valid_count = 0;  // of the training pictures, held out in place of `valid`
  int64_t train_count = 0;  // of the others, that are learned from; 0: all
  AugmentationOptions augmentation;
  MixingOptions mixing;
};

FieldList Fields(PictureOptions& options);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_CLASSIFICATION_PICTURE_OPTIONS_H_
