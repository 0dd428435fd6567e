#include "data/item_corpus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "attend/error.h"
#include "base/counted.h"
#include "base/edit_distance.h"
#include "base/first_few.h"
#include "base/random.h"
#include "base/sha256.h"
#include "data/changed_windows.h"
#include "data/item_windows.h"
#include "data/picture_corpus.h"
#include "media/fit_picture.h"
#include "media/picture_codec.h"
#include "text/word_ids.h"

namespace attend {
namespace {

constexpr uint64_t kInputKey = 0x696e7074;      // "inpt"
constexpr uint64_t kItemOrderKey = 0x6974656d;  // "item"

// Numbers of names, and what is said of those that are not known.
class Names {
 public:
  // `what`: each of them; `lacking`: where a name that is not known is missing.
  Names(const std::vector<std::string>& known, const char* what, const char* lacking)
      : known_(known), what_(what), lacking_(lacking) {
    for (size_t i = 0; i < known.size(); ++i) numbers_[known[i]] = static_cast<int32_t>(i);
  }
  int32_t NumberOf(const std::string& name, const std::string& where) {
    const auto found = numbers_.find(name);
    if (found != numbers_.end()) return found->second;
    unknown_.emplace(name, where);
    return 0;
  }
  // Throws Error(kInput) that names some of those that were asked for in vain.
  void Check() const {
    constexpr size_t kNamed = 5;
    if (unknown_.empty()) return;
    std::vector<std::string> named;
    for (const auto& [name, where] : unknown_) {
      if (named.size() < kNamed)
        named.push_back(fmt::format("'{}' ({}{})", name, where, DidYouMean(name, known_)));
    }
    throw Error(
        ErrorKind::kInput,
        fmt::format("{} that {}: {}{}; expected such as {}", Counted(std::ssize(unknown_), what_),
                    lacking_, fmt::join(named, ", "), unknown_.size() > kNamed ? ", ..." : "",
                    fmt::join(std::span(known_).first(std::min(known_.size(), kNamed)), ", ")));
  }

 private:
  const std::vector<std::string>& known_;
  const char *what_, *lacking_;
  std::map<std::string, int32_t> numbers_;
  std::map<std::string, std::string> unknown_;  // with the place
};

std::string_view BytesOf(const std::vector<uint8_t>& pixels) {
  return {reinterpret_cast<const char*>(pixels.data()), pixels.size()};
}

}  // namespace

ItemCorpus::ItemCorpus(std::vector<Item> items, std::vector<std::string> files,
                       const Vocabulary& vocabulary, const ItemCorpusOptions& options,
                       ThreadPool* pool)
    : options_(options),
      files_(std::move(files)),
      items_(std::move(items)),
      numbers_(options_.input.patches),
      fill_(MeanColour(options_.input.patches)),
      window_(ItemsInWindow(4 * options_.input.patches.bytes())) {
  Encode(vocabulary);
  SeePictures(pool);
  LeaveOutItemsWithoutInput();
}

// Those that have a picture alone, which can't be read. SeePictures has cleared its path.
void ItemCorpus::LeaveOutItemsWithoutInput() {
  int64_t kept = 0;
  for (int64_t i = 0; i < size(); ++i) {
    const ItemInputs has = InputsOf(i);
    if (std::ranges::find(has, true) == has.end()) continue;
    if (kept != i) {
      items_[kept] = std::move(items_[i]);
      ids_[kept] = std::move(ids_[i]);
      nodes_[kept] = std::move(nodes_[i]);
      labels_[kept] = labels_[i];
    }
    ++kept;
  }
  left_out_ = size() - kept;
  items_.resize(kept);
  ids_.resize(kept);
  nodes_.resize(kept);
  labels_.resize(kept);
}

void ItemCorpus::Encode(const Vocabulary& vocabulary) {
  Names nodes(options_.input.nodes, "node", "the graph lacks"),
      labels(options_.labels, "label", "the training items lack");
  for (const Item& item : items_) {
    const std::string where = Where(item.origin);
    std::vector<int32_t>& ids = ids_.emplace_back();
    if (item.text) {
      TextIds read = EncodeCut(vocabulary, *item.text, options_.max_tokens);
      ids = std::move(read.ids);
      cut_ += read.cut ? 1 : 0;
    }
    std::vector<int32_t>& linked = nodes_.emplace_back();
    for (const std::string& link : item.links) linked.push_back(nodes.NumberOf(link, where));
    labels_.push_back(labels.NumberOf(item.label, where));
    if (ids.empty() && linked.empty() && item.picture.empty()) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{}: the item has no text, no picture and no links, expected one of "
                              "them",
                              where));
    }
  }
  nodes.Check();
  labels.Check();
}

void ItemCorpus::SeePictures(ThreadPool* pool) {
  std::vector<std::string> digests(items_.size()), reasons(items_.size());
  pool->ParallelFor(size(), [&](int64_t i, int /*worker*/) {
    if (items_[i].picture.empty()) return;
    try {
      digests[i] = Sha256(BytesOf(ReadFitted(items_[i].picture, options_.input.patches).pixels));
    } catch (const Error& error) {
      reasons[i] = error.what();
    }
  });
  std::string facts;
  for (int64_t i = 0; i < size(); ++i) {
    Item& item = items_[i];
    if (!reasons[i].empty()) {
      damaged_.push_back(std::move(reasons[i]));
      item.picture.clear();
    }
    pictures_ += item.picture.empty() ? 0 : 1;
    facts += fmt::format("{}\n{}\n{}\n{}\n", item.label, item.text ? "=" + *item.text : "",
                         fmt::join(item.links, "\t"), digests[i]);
  }
  if (pictures_ == 0 && !damaged_.empty()) {
    throw Error(ErrorKind::kInput,
                fmt::format("none of the {} can be read; the first: {}",
                            Counted(std::ssize(damaged_), "picture"), damaged_[0]));
  }
  sha256_ = Sha256(facts);
}

std::string ItemCorpus::DamagedMessage() const {
  if (damaged_.empty()) return "";
  const int64_t damaged = std::ssize(damaged_);
  const std::string left_out =
      left_out_ == 0 ? "" : fmt::format(", or are left out ({} had nothing else)", left_out_);
  return fmt::format("{} of {} can't be read, and their items go without{}: {}", damaged,
                     Counted(damaged + pictures_, "picture"), left_out, FirstFew(damaged_));
}

ItemInputs ItemCorpus::InputsOf(int64_t i) const {
  return {!ids_[i].empty(), !items_[i].picture.empty(), !nodes_[i].empty()};
}

ItemInputs ItemCorpus::Kept(int64_t i, uint64_t key) const {
  const ItemInputs has = InputsOf(i);
  Random random({key, kInputKey});
  ItemInputs kept = has;
  for (bool& each : kept) each = each && random.Uniform() >= options_.input_dropout;
  // Where all would go, one of them stays.
  const auto count = static_cast<uint64_t>(std::ranges::count(has, true));
  const uint64_t stays = random.Below(count);
  if (std::ranges::find(kept, true) != kept.end()) return kept;
  uint64_t number = 0;
  for (size_t input = 0; input < has.size(); ++input)
    if (has[input] && number++ == stays) kept[input] = true;
  return kept;
}

ExampleTable ItemCorpus::EmptyTable() const {
  return ExampleTable({{ColumnKind::kIds},
                       {ColumnKind::kNumbers, options_.input.patches.patch_size()},
                       {ColumnKind::kIds},
                       {ColumnKind::kLabels}},
                      ReadAs::kSequence);
}

void ItemCorpus::Add(int64_t i, const ItemInputs& inputs, const std::vector<float>& patches,
                     ExampleTable* table) const {
  if (inputs[kTextInput]) table->Append(kItemTextColumn, ids_[i]);
  if (inputs[kPictureInput]) table->Append(kItemPatchColumn, patches);
  if (inputs[kLinksInput]) table->Append(kItemNodeColumn, nodes_[i]);
  table->Append(kItemLabelColumn, {&labels_[i], 1});
  table->EndExample(items_[i].origin);
}

std::vector<uint8_t> ItemCorpus::Pixels(int64_t i) const {
  if (items_[i].picture.empty()) return {};
  return ReadFitted(items_[i].picture, options_.input.patches).pixels;
}

ExampleTable ItemCorpus::Table(int64_t first, int64_t end) const {
  ExampleTable table = EmptyTable();
  for (int64_t i = first; i < end; ++i) {
    const ItemInputs inputs = InputsOf(i);
    Add(i, inputs, inputs[kPictureInput] ? numbers_.Of(Pixels(i)) : std::vector<float>(), &table);
  }
  return table;
}

ExampleTable ItemCorpus::Changed(const std::vector<int64_t>& order, int64_t epoch, int64_t first,
                                 int64_t end) const {
  const PatchInput& input = options_.input.patches;
  ExampleTable table = EmptyTable();
  for (int64_t place = first; place < end; ++place) {
    const int64_t i = order[place];
    const uint64_t key =
        ChangeKey(options_.seed, static_cast<uint64_t>(epoch), static_cast<uint64_t>(place));
    const ItemInputs inputs = Kept(i, key);
    std::vector<float> patches;
    if (inputs[kPictureInput]) {
      // A part that is cut at random comes from all pixels that the file has.
      const Picture picture = options_.augmentation.crop_area < 1
                                  ? ReadPicture(items_[i].picture, input.channels)
                                  : ReadFitted(items_[i].picture, input);
      patches = numbers_.Of(
          Augment(picture, options_.augmentation, input.width, input.height, fill_, key).pixels);
    }
    Add(i, inputs, patches, &table);
  }
  return table;
}

std::unique_ptr<WindowReader> ItemCorpus::Open(int64_t epoch, const WindowStart& start,
                                               const WindowPart& part) const {
  const auto make = [this](const std::vector<int64_t>& order, int64_t of_epoch, int64_t first,
                           int64_t end) { return Changed(order, of_epoch, first, end); };
  return OpenItemWindows({"items", size(), window_, options_.seed, kItemOrderKey, make}, epoch,
                         start.number, part);
}

std::string ItemCorpus::Where(const Origin& origin) const {
  return fmt::format("{}:{}", files_[origin.file], origin.line + 1);
}

std::string ItemCorpus::Summary() const {
  int64_t texts = 0, linked = 0;
  for (int64_t i = 0; i < size(); ++i) {
    texts += ids_[i].empty() ? 0 : 1;
    linked += nodes_[i].empty() ? 0 : 1;
  }
  return fmt::format("{} items: {} with text, {} with a picture, {} with links", size(), texts,
                     pictures_, linked);
}

}  // namespace attend
