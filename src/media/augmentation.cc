#include "media/augmentation.h"

#include <algorithm>
#include <cmath>

#include "media/picture_changes.h"
#include "media/resize.h"

namespace attend {
namespace {

constexpr int kTries = 10;

// Between two numbers.
double Between(double low, double high, Random* random) {
  return low + (high - low) * random->Uniform();
}

double LogBetween(double low, double high, Random* random) {
  return std::exp(Between(std::log(low), std::log(high), random));
}

int64_t Rounded(double number) { return static_cast<int64_t>(std::nearbyint(number)); }

int64_t UpTo(int64_t most, Random* random) {
  return static_cast<int64_t>(random->Below(static_cast<uint64_t>(most) + 1));
}

}  // namespace

FieldList Fields(AugmentationOptions& options) {
  FieldList fields;
  fields
      .Add("shift", &options.shift, 0, 1000,
           "pixels that each picture is moved by at most, across and down")
      .Add("flip", &options.flip, 0, 1, "probability that left and right are exchanged")
      .Add("crop_margin", &options.crop_margin, 0, 1000,
           "black pixels around each picture, of which a part of its size is cut at random")
      .Add("crop_area", &options.crop_area, 0.01, 1,
           "smallest share of the area that is cut at random and brought to size; 1 cuts nothing")
      .Add("rand_augment", &options.rand_augment, 0, 14,
           "changes of colours and position drawn for each picture (RandAugment)")
      .Add("rand_magnitude", &options.rand_magnitude, 0, static_cast<double>(kMaxMagnitude),
           "strength of those changes")
      .Add("erase", &options.erase, 0, 1, "probability that a box of each picture is erased");
  return fields;
}

Box DrawResizedCrop(int64_t width, int64_t height, double min_area, Random* random) {
  constexpr double kNarrow = 3.0 / 4, kWide = 4.0 / 3;
  const auto w = static_cast<double>(width), h = static_cast<double>(height);
  for (int i = 0; i < kTries; ++i) {
    const double area = w * h * Between(min_area, 1, random);
    const double ratio = LogBetween(kNarrow, kWide, random);
    Box box{0, 0, Rounded(std::sqrt(area * ratio)), Rounded(std::sqrt(area / ratio))};
    if (box.width <= 0 || box.width > width || box.height <= 0 || box.height > height) continue;
    box.y = UpTo(height - box.height, random);
    box.x = UpTo(width - box.width, random);
    return box;
  }
  Box box{0, 0, width, height};  // the middle
  if (w / h < kNarrow) box.height = Rounded(w / kNarrow);
  if (w / h > kWide) box.width = Rounded(h * kWide);
  box.x = (width - box.width) / 2;
  box.y = (height - box.height) / 2;
  return box;
}

Picture RandAugment(const Picture& picture, int64_t changes, int64_t magnitude, Random* random) {
  Picture changed = picture;
  for (int64_t i = 0; i < changes; ++i) {
    const auto change = static_cast<PictureChange>(random->Below(kPictureChanges));
    const bool backward = random->Below(2) == 1;
    const double value = ChangeValue(change, magnitude, picture.width, picture.height);
    changed = Change(changed, change, IsSigned(change) && backward ? -value : value);
  }
  return changed;
}

std::optional<Box> DrawErasedBox(int64_t width, int64_t height, Random* random) {
  for (int i = 0; i < kTries; ++i) {
    const double area = static_cast<double>(width * height) * Between(0.02, 0.33, random);
    const double ratio = LogBetween(0.3, 3.3, random);
    Box box{0, 0, Rounded(std::sqrt(area / ratio)), Rounded(std::sqrt(area * ratio))};
    if (box.width >= width || box.height >= height) continue;
    box.y = UpTo(height - box.height, random);
    box.x = UpTo(width - box.width, random);
    return box;
  }
  return std::nullopt;
}

void Fill(const Box& box, std::span<const uint8_t> fill, Picture* picture) {
  for (int64_t y = box.y; y < box.y + box.height; ++y) {
    uint8_t* to = picture->row(y) + box.x * picture->channels;
    for (int64_t x = 0; x < box.width; ++x) to = std::ranges::copy(fill, to).out;
  }
}

Picture Augment(const Picture& picture, const AugmentationOptions& options, int64_t width,
                int64_t height, std::span<const uint8_t> fill, uint64_t key) {
  enum Stream : uint64_t { kShift = 1, kFlip, kMargin, kArea, kChanges, kErase };
  Picture changed = picture;
  if (options.shift > 0) {
    Random random({key, kShift});
    const int64_t right = UpTo(2 * options.shift, &random) - options.shift;
    const int64_t down = UpTo(2 * options.shift, &random) - options.shift;
    changed = Shift(changed, right, down);
  }
  if (options.flip > 0 && Random({key, kFlip}).Uniform() < options.flip)
    changed = FlipHorizontally(changed);
  if (options.crop_margin > 0) {
    Random random({key, kMargin});
    const int64_t y = UpTo(2 * options.crop_margin, &random) - options.crop_margin;
    const int64_t x = UpTo(2 * options.crop_margin, &random) - options.crop_margin;
    changed = Crop(changed, {x, y, changed.width, changed.height});
  }
  if (options.crop_area < 1) {
    Random random({key, kArea});
    changed =
        Crop(changed, DrawResizedCrop(changed.width, changed.height, options.crop_area, &random));
  }
  changed = Resize(changed, width, height, Interpolation::kBilinear);
  if (options.rand_augment > 0) {
    Random random({key, kChanges});
    changed = RandAugment(changed, options.rand_augment, options.rand_magnitude, &random);
  }
  if (options.erase > 0) {
    Random random({key, kErase});
    if (random.Uniform() < options.erase) {
      if (const auto box = DrawErasedBox(width, height, &random)) Fill(*box, fill, &changed);
    }
  }
  return changed;
}

}  // namespace attend
