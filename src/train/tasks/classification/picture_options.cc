#include "train/tasks/classification/picture_options.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "train/tasks/text_files.h"
#include "train/train_options.h"

namespace attend {

FieldList Fields(PictureOptions& options) {
  constexpr const char* kKinds =
      "a folder with a folder for each label, tables of `path<TAB>label`, files of CIFAR-10 (.bin) "
      "or a file of IDX (...images-idx3-ubyte)";
  constexpr double kMany = 1e12;
  FieldList fields;
  fields.Group("Pictures")
      .Add("train_pictures", &options.train, fmt::format("pictures to train on: {}", kKinds), kPath)
      .Add("valid_pictures", &options.valid, "pictures to validate on", kPath)
      .Add("test_pictures", &options.test, "pictures to score the finished model on", kPath)
      .Add("valid_count", &options.valid_count, 0, kMany,
           "hold out so many of the training pictures to validate on, in place of valid_pictures; "
           "they are drawn at random, the same ones for every seed",
           kIdentity)
      .Add("train_count", &options.train_count, 0, kMany,
           "learn from so many of the training pictures alone, drawn in the same way; 0: all",
           kIdentity)
      .Add("label_names", &options.label_names,
           "names of the labels, which CIFAR-10 and IDX only number, in that order", kIdentity)
      .Nest("augment", Fields(options.augmentation), kIdentity)
      .Nest("augment", Fields(options.mixing), kIdentity);
  return fields;
}

void PictureOptions::Check(const TrainOptions& options) const {
  CheckOneText(options);
  if (train.empty()) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("train_pictures is needed: preset {} reads pictures", options.preset));
  }
  if (valid_count > 0 && !valid.empty()) {
    throw Error(ErrorKind::kConfiguration,
                "valid_count and valid_pictures are both given; leave one out");
  }
  CheckNotStandardInput("train_pictures", train);
  CheckNotStandardInput("valid_pictures", valid);
  CheckNotStandardInput("test_pictures", test);
}

}  // namespace attend
