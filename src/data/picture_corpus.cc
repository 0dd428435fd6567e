#include "data/picture_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/random.h"
#include "data/changed_windows.h"
#include "data/item_windows.h"
#include "media/fit_picture.h"

namespace attend {
namespace {

constexpr uint64_t kMixingKey = 0x6d6978;          // "mix"
constexpr uint64_t kPictureOrderKey = 0x70696374;  // "pict"

}  // namespace

std::vector<uint8_t> MeanColour(const PatchInput& input) {
  std::vector<uint8_t> colour;
  for (int64_t channel = 0; channel < input.channels; ++channel) {
    const double mean = input.mean[input.mean.size() == 1 ? 0 : channel];
    colour.push_back(static_cast<uint8_t>(std::lround(255 * mean)));
  }
  return colour;
}

PictureCorpus::PictureCorpus(std::shared_ptr<const PictureSet> pictures, PictureSurvey survey,
                             PictureCorpusOptions options)
    : pictures_(std::move(pictures)),
      survey_(std::move(survey)),
      options_(std::move(options)),
      numbers_(options_.input),
      fill_(MeanColour(options_.input)),
      window_(ItemsInWindow(4 * options_.input.bytes())) {}

Picture PictureCorpus::Get(int64_t i) const {
  return FitPicture(pictures_->Get(survey_.kept[i]), options_.input);
}

ExampleTable PictureCorpus::EmptyTable() const {
  return ExampleTable({{ColumnKind::kNumbers, options_.input.patch_size()},
                       {ColumnKind::kLabels},
                       {ColumnKind::kNumbers}});
}

void PictureCorpus::Add(const Picture& picture, int64_t i, ExampleTable* table) const {
  table->Append(kPatchColumn, numbers_.Of(picture.pixels));
  const auto label_of = static_cast<int32_t>(label(i));
  table->Append(kPictureLabelColumn, {&label_of, 1});
  const float whole = 1;
  table->Append(kLabelWeightColumn, std::span<const float>(&whole, 1));
  table->EndExample({0, survey_.kept[i]});
}

ExampleTable PictureCorpus::Table(int64_t first, int64_t end) const {
  ExampleTable table = EmptyTable();
  for (int64_t i = first; i < end; ++i) Add(Get(i), i, &table);
  return table;
}

ExampleTable PictureCorpus::Changed(const std::vector<int64_t>& order, int64_t epoch, int64_t first,
                                    int64_t end) const {
  ExampleTable table = EmptyTable();
  const bool mixes = options_.mixing.mixup > 0 || options_.mixing.cutmix > 0;
  for (int64_t place = first; place < end; ++place) {
    const uint64_t key =
        ChangeKey(options_.seed, static_cast<uint64_t>(epoch), static_cast<uint64_t>(place));
    Picture picture = Augmented(order[place], key);
    mixes ? AddMixed(std::move(picture), order[place], key, &table)
          : Add(picture, order[place], &table);
  }
  return table;
}

Picture PictureCorpus::Augmented(int64_t i, uint64_t key) const {
  const PatchInput& input = options_.input;
  // A part that is cut at random comes from all pixels that the file has.
  const bool cuts = options_.augmentation.crop_area < 1;
  const Picture picture = cuts ? pictures_->Get(survey_.kept[i]) : Get(i);
  return Augment(picture, options_.augmentation, input.width, input.height, fill_, key);
}

void PictureCorpus::AddMixed(Picture picture, int64_t i, uint64_t key, ExampleTable* table) const {
  Random random({key, kMixingKey});
  const auto other = static_cast<int64_t>(random.Below(static_cast<uint64_t>(size())));
  const Picture with = Augmented(other, random.Next());
  const Mixing mixing =
      DrawMixing(options_.mixing, options_.input.width, options_.input.height, &random);
  if (mixing.cuts()) Paste(with, mixing.box, &picture);
  std::vector<float> numbers = numbers_.Of(picture.pixels);
  if (!mixing.cuts()) MixInto(numbers_.Of(with.pixels), mixing.own_share, numbers);
  table->Append(kPatchColumn, numbers);
  const int32_t labels[] = {static_cast<int32_t>(label(i)), static_cast<int32_t>(label(other))};
  table->Append(kPictureLabelColumn, labels);
  const float shares[] = {static_cast<float>(mixing.own_share),
                          static_cast<float>(1 - mixing.own_share)};
  table->Append(kLabelWeightColumn, std::span<const float>(shares));
  table->EndExample({0, survey_.kept[i]});
}

std::unique_ptr<WindowReader> PictureCorpus::Open(int64_t epoch, const WindowStart& start,
                                                  const WindowPart& part) const {
  const auto make = [this](const std::vector<int64_t>& order, int64_t of_epoch, int64_t first,
                           int64_t end) { return Changed(order, of_epoch, first, end); };
  return OpenItemWindows({"pictures", size(), window_, options_.seed, kPictureOrderKey, make},
                         epoch, start.number, part);
}

std::string PictureCorpus::Where(const Origin& origin) const {
  return pictures_->name(origin.line);
}

std::string PictureCorpus::Summary() const {
  std::string text = fmt::format("{} pictures", size());
  if (const size_t left_out = survey_.left_out.size(); left_out > 0)
    text += fmt::format(", {} left out", left_out);
  const bool one_size =
      survey_.min_width == survey_.max_width && survey_.min_height == survey_.max_height;
  text += one_size ? fmt::format(", {} x {} pixels", survey_.min_width, survey_.min_height)
                   : fmt::format(", {} to {} wide and {} to {} high", survey_.min_width,
                                 survey_.max_width, survey_.min_height, survey_.max_height);
  return text;
}

}  // namespace attend
