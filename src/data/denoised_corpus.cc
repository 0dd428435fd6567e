#include "data/denoised_corpus.h"

#include <utility>

#include "data/changed_windows.h"

namespace attend {

DenoisedCorpus::DenoisedCorpus(std::shared_ptr<const LineCorpus> lines, int64_t first_text,
                               std::shared_ptr<const Denoising> denoising, uint64_t seed)
    : lines_(std::move(lines)),
      first_text_(first_text),
      denoising_(std::move(denoising)),
      seed_(seed) {}

std::unique_ptr<WindowReader> DenoisedCorpus::Open(int64_t epoch, const WindowStart& start,
                                                   const WindowPart& part) const {
  return ChangeWindows(lines_->Open(epoch, start, part),
                       [this](const ExampleTable& examples, uint64_t of_epoch, uint64_t first) {
                         return AddNoise(examples, of_epoch, first);
                       });
}

ExampleTable DenoisedCorpus::AddNoise(const ExampleTable& examples) const {
  return AddNoise(examples, kNoEpoch, 0);
}

ExampleTable DenoisedCorpus::AddNoise(const ExampleTable& examples, uint64_t epoch,
                                      uint64_t first) const {
  const TextFrame &source = lines_->columns()[0].frame, &target = lines_->columns()[1].frame;
  const size_t around[] = {target.begin.size(), target.end.size()};
  ExampleTable table(examples.types());
  for (int64_t row = 0; row < examples.size(); ++row) {
    const Example example = examples[row];
    if (example.origin().file < first_text_) {
      table.Append(0, example.Ids(0));
      table.Append(1, example.Ids(1));
    } else {
      const std::span<const int32_t> framed = example.Ids(1);
      const auto ids = framed.subspan(around[0], framed.size() - around[0] - around[1]);
      const uint64_t key = ChangeKey(seed_, epoch, first + static_cast<uint64_t>(row));
      const NoisedText text = denoising_->AddNoise(ids, key);
      table.Append(0, source.Around(text.input));
      table.Append(1, target.Around(text.output));
    }
    table.EndExample(example.origin());
  }
  return table;
}

}  // namespace attend
