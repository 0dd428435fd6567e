#include "data/masked_corpus.h"

#include <utility>
#include <vector>

#include "data/changed_windows.h"

namespace attend {

MaskedCorpus::MaskedCorpus(std::shared_ptr<const PlainTextCorpus> text,
                           std::shared_ptr<const Masking> masking, uint64_t seed)
    : text_(std::move(text)),
      masking_(std::move(masking)),
      seed_(seed),
      eos_(static_cast<int32_t>(text_->columns()[0].vocabulary->special_ids().eos)) {}

std::unique_ptr<WindowReader> MaskedCorpus::Open(int64_t epoch, const WindowStart& start,
                                                 const WindowPart& part) const {
  return ChangeWindows(text_->Open(epoch, start, part),
                       [this](const ExampleTable& contexts, uint64_t of_epoch, uint64_t first) {
                         return Mask(contexts, of_epoch, first);
                       });
}

ExampleTable MaskedCorpus::Mask(const ExampleTable& contexts) const {
  return Mask(contexts, kNoEpoch, 0);
}

ExampleTable MaskedCorpus::Mask(const ExampleTable& contexts, uint64_t epoch,
                                uint64_t first) const {
  ExampleTable table({ColumnType{}, ColumnType{.kind = ColumnKind::kLabels}});
  std::vector<int32_t> labels;
  for (int64_t row = 0; row < contexts.size(); ++row) {
    const std::span<const int32_t> ids = contexts[row].Ids(0);
    const uint64_t key = ChangeKey(seed_, epoch, first + static_cast<uint64_t>(row));
    const MaskedTokens masked = masking_->Mask(ids, key);
    if (masked.chosen.empty()) continue;  // there is nothing to learn from it
    labels.assign(ids.size(), kNotMasked);
    for (const int64_t place : masked.chosen) labels[place] = ids[place];
    table.Append(0, masked.ids);
    table.Append(1, labels);
    if (ids.back() != eos_) {
      table.Append(0, std::span(&eos_, 1));
      table.Append(1, std::span(&kNotMasked, 1));
    }
    table.EndExample(contexts[row].origin());
  }
  return table;
}

}  // namespace attend
