// Labelled pictures as training examples, read and changed as training goes, in bounded memory.
#ifndef ATTEND_DATA_PICTURE_CORPUS_H_
#define ATTEND_DATA_PICTURE_CORPUS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attend/model_config.h"
#include "data/example_source.h"
#include "media/augmentation.h"
#include "media/mixing.h"
#include "media/patch_numbers.h"
#include "media/picture_set.h"
#include "media/picture_survey.h"

namespace attend {

// Columns of a picture's example: its patches, one label or two, and how much each of them counts.
enum PictureColumn : int64_t { kPatchColumn, kPictureLabelColumn, kLabelWeightColumn };

// Of pixels from 0 to 255, by channel: what fills the parts of a picture that a change leaves
// empty.
std::vector<uint8_t> MeanColour(const PatchInput& input);

struct PictureCorpusOptions {
  PatchInput input;
  uint64_t seed = 1;
  // Of pictures that windows hold.
  AugmentationOptions augmentation = {};
  MixingOptions mixing = {};
};

// An epoch has every picture once, in an order drawn for it. A window is the pictures that come
// next, as many as take some 64 MiB as numbers, but at least 64; no other picture is in memory.
// What changes a picture follows from (seed, epoch, its place in the epoch). Immutable; safe to use
// from many threads.
class PictureCorpus : public ExampleSource {
 public:
  // `survey` is of the pictures; what it left out is no example.
  PictureCorpus(std::shared_ptr<const PictureSet> pictures, PictureSurvey survey,
                PictureCorpusOptions options);

  // Windows throw Error(kInput) for a picture that can't be read any more.
  std::unique_ptr<WindowReader> Open(int64_t epoch, const WindowStart& start,
                                     const WindowPart& part) const override;
  bool in_parts() const override { return true; }
  std::string Where(const Origin& origin) const override;
  std::string Summary() const;

  int64_t size() const { return static_cast<int64_t>(survey_.kept.size()); }
  const PictureSurvey& survey() const { return survey_; }
  const PictureSet& pictures() const { return *pictures_; }
  // Of those that are kept, from 0: its label, and the picture as a model reads it.
  int64_t label(int64_t i) const { return pictures_->label(survey_.kept[i]); }
  Picture Get(int64_t i) const;
  // Pictures [first, end) of those that are kept, unchanged, in their order.
  ExampleTable Table(int64_t first, int64_t end) const;
  int64_t window_size() const { return window_; }

 private:
  ExampleTable EmptyTable() const;
  void Add(const Picture& picture, int64_t i, ExampleTable* table) const;
  // Picture `i` as a window has it. `key` decides every random choice.
  Picture Augmented(int64_t i, uint64_t key) const;
  void AddMixed(Picture picture, int64_t i, uint64_t key, ExampleTable* table) const;
  // Those at places [first, end) of an epoch's order.
  ExampleTable Changed(const std::vector<int64_t>& order, int64_t epoch, int64_t first,
                       int64_t end) const;

  std::shared_ptr<const PictureSet> pictures_;
  PictureSurvey survey_;
  PictureCorpusOptions options_;
  PatchNumbers numbers_;
  std::vector<uint8_t> fill_;  // of what is erased: the mean colour
  int64_t window_;             // pictures
};

}  // namespace attend

#endif  // ATTEND_DATA_PICTURE_CORPUS_H_
