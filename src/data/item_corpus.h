// Items with a text, a picture and links as training examples, whose pictures are read and whose
// inputs are left out as training goes. Their texts and links stay in memory.
#ifndef ATTEND_DATA_ITEM_CORPUS_H_
#define ATTEND_DATA_ITEM_CORPUS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attend/model_config.h"
#include "attend/vocabulary.h"
#include "base/thread_pool.h"
#include "data/example_source.h"
#include "data/items.h"
#include "media/augmentation.h"
#include "media/patch_numbers.h"

namespace attend {

// Columns of an item's example; what it lacks is an empty list.
enum ItemColumn : int64_t { kItemTextColumn, kItemPatchColumn, kItemNodeColumn, kItemLabelColumn };

// The inputs of an item, and some of them: text, picture, links.
enum ItemInput : int64_t { kTextInput, kPictureInput, kLinksInput };
using ItemInputs = std::array<bool, 3>;

struct ItemCorpusOptions {
  FusionInput input;
  std::vector<std::string> labels;
  uint64_t seed = 1;
  int64_t max_tokens = 0;  // of a text, beside bos and eos
  // Of items that windows hold.
  double input_dropout = 0;  // share of each input's items that lose it
  AugmentationOptions augmentation = {};
};

// An epoch has every item once, in an order drawn for it. A window is the items that come next, as
// many as take some 64 MiB as numbers; no other picture is in memory. What an item loses, and how
// its picture is changed, follows from (seed, epoch, its place in the epoch); it never loses all.
// Immutable; safe to use from many threads.
class ItemCorpus : public ExampleSource {
 public:
  // Decodes every picture once; one that can't be read is as good as none, and an item that has
  // nothing else is left out. Throws Error(kInput) for links to nodes and labels that the model
  // does not know, for items without any input, and where there are pictures and none can be read.
  ItemCorpus(std::vector<Item> items, std::vector<std::string> files, const Vocabulary& vocabulary,
             const ItemCorpusOptions& options, ThreadPool* pool);

  // Windows throw Error(kInput) for a picture that can't be read any more.
  std::unique_ptr<WindowReader> Open(int64_t epoch, const WindowStart& start,
                                     const WindowPart& part) const override;
  bool in_parts() const override { return true; }
  std::string Where(const Origin& origin) const override;
  std::string Summary() const;
  // "3 of 3,000 pictures can't be read, and their items go without: ...", or empty.
  std::string DamagedMessage() const;

  int64_t size() const { return std::ssize(items_); }
  const std::string& sha256() const { return sha256_; }  // of all that the items hold
  const Item& item(int64_t i) const { return items_[i]; }
  const std::vector<int32_t>& ids(int64_t i) const { return ids_[i]; }
  const std::vector<int32_t>& nodes(int64_t i) const { return nodes_[i]; }
  // Of the model's size; empty where the item has none.
  std::vector<uint8_t> Pixels(int64_t i) const;
  int64_t cut() const { return cut_; }  // texts longer than the model can read
  // Items [first, end), whole, in their order.
  ExampleTable Table(int64_t first, int64_t end) const;
  int64_t window_size() const { return window_; }

 private:
  void Encode(const Vocabulary& vocabulary);
  void SeePictures(ThreadPool* pool);
  void LeaveOutItemsWithoutInput();
  ItemInputs InputsOf(int64_t i) const;
  // What an item keeps by this key of what it has.
  ItemInputs Kept(int64_t i, uint64_t key) const;
  ExampleTable EmptyTable() const;
  void Add(int64_t i, const ItemInputs& inputs, const std::vector<float>& patches,
           ExampleTable* table) const;
  // Those at places [first, end) of an epoch's order.
  ExampleTable Changed(const std::vector<int64_t>& order, int64_t epoch, int64_t first,
                       int64_t end) const;

  ItemCorpusOptions options_;
  std::vector<std::string> files_;
  std::vector<Item> items_;
  PatchNumbers numbers_;
  std::vector<std::vector<int32_t>> ids_, nodes_;  // by item
  std::vector<int32_t> labels_;
  std::vector<uint8_t> fill_;  // of what an augmentation leaves empty: the mean colour
  int64_t pictures_ = 0;       // that can be read
  std::vector<std::string> damaged_;
  int64_t left_out_ = 0;  // items of damaged pictures that had nothing else
  std::string sha256_;
  int64_t cut_ = 0;
  int64_t window_ = 1;  // items
};

}  // namespace attend

#endif  // ATTEND_DATA_ITEM_CORPUS_H_
