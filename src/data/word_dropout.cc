#include "data/word_dropout.h"

#include "attend/error.h"
#include "base/random.h"
#include "data/changed_windows.h"
#include "text/mask_token.h"

namespace attend {

WordDropout::WordDropout(const ExampleSource* text, const Vocabulary& vocabulary,
                         double probability, uint64_t seed)
    : text_(text), probability_(probability), seed_(seed) {
  const SpecialIds special = vocabulary.special_ids();
  const int32_t mask = MaskId(vocabulary);
  hidden_ = mask >= 0 ? mask : static_cast<int32_t>(special.unk);
  if (hidden_ < 0) {
    throw Error(ErrorKind::kConfiguration,
                "word_dropout needs a vocabulary with [MASK] or an unknown token");
  }
  kinds_ = TokenKinds(vocabulary, {special.pad, special.bos, special.eos});
}

std::unique_ptr<WindowReader> WordDropout::Open(int64_t epoch, const WindowStart& start,
                                                const WindowPart& part) const {
  return ChangeWindows(text_->Open(epoch, start, part),
                       [this](const ExampleTable& examples, uint64_t of_epoch, uint64_t first) {
                         return Hide(examples, of_epoch, first);
                       });
}

ExampleTable WordDropout::Hide(const ExampleTable& examples, uint64_t epoch, uint64_t first) const {
  ExampleTable table(examples.types());
  std::vector<int32_t> ids;
  for (int64_t row = 0; row < examples.size(); ++row) {
    Random random({seed_, epoch, first + static_cast<uint64_t>(row), 0x64726F70});
    bool hidden = false;
    ids.clear();
    for (const int32_t id : examples[row].Ids(0)) {
      if (kinds_[id] == TokenKind::kSpecial) hidden = false;
      if (kinds_[id] == TokenKind::kBegins) hidden = random.Uniform() < probability_;
      ids.push_back(hidden ? hidden_ : id);
    }
    table.Append(0, ids);
    for (int64_t column = 1; column < table.columns(); ++column)
      table.Append(column, examples[row].Ids(column));
    table.EndExample(examples[row].origin());
  }
  return table;
}

}  // namespace attend
