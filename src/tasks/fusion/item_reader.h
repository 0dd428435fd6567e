// Items as the engine reads them.
#ifndef ATTEND_TASKS_FUSION_ITEM_READER_H_
#define ATTEND_TASKS_FUSION_ITEM_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attend/classifier.h"
#include "media/patch_numbers.h"
#include "tasks/encoder_runner.h"

namespace attend {

struct ReadItem {
  EncoderInput input;
  bool cut = false;  // the text is longer than the model can read
};

// text, picture and links, as users name them.
const std::vector<std::string>& ItemInputNames();
// Takes the input of this name from the item.
void LeaveOut(std::string_view input, ClassifiedItem* item);
// Whether the item has anything to read.
bool HasInput(const EncoderInput& input);

// Immutable; safe to use from many threads.
class ItemReader {
 public:
  // Precondition: a model of fusion.
  explicit ItemReader(std::shared_ptr<const LoadedModel> loaded);

  // Throws Error(kInput) for a picture that is none, a link to no node of the model's graph, and an
  // item without any input.
  ReadItem Read(const ClassifiedItem& item) const;

  const LoadedModel& loaded() const { return *loaded_; }
  const ModelConfig& config() const { return loaded_->config(); }

 private:
  const std::shared_ptr<const LoadedModel> loaded_;
  const PatchNumbers numbers_;
  std::unordered_map<std::string_view, int32_t> rows_;  // of nodes
};

}  // namespace attend

#endif  // ATTEND_TASKS_FUSION_ITEM_READER_H_
