#include "attend/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"
#include "base/files.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace attend {
namespace {

// A line as UTF-8 text; copied only where it is not.
class Repaired {
 public:
  Repaired(std::string_view line, int64_t* malformed) : view_(line) {
    if (!NeedsRepair(line)) return;
    copy_ = RepairUtf8(line, malformed);
    view_ = copy_;
  }
  std::string_view view() const { return view_; }

 private:
  std::string copy_;
  std::string_view view_;
};

}  // namespace

struct Vocabulary::Impl {
  std::string bytes;
  std::shared_ptr<const Tokenizer> tokenizer;
  bool reversed = false;

  // From the order of the text to this one's, and back.
  template <class Number>
  std::vector<Number> Ordered(std::vector<Number> numbers) const {
    if (reversed) std::ranges::reverse(numbers);
    return numbers;
  }
  std::vector<int32_t> InTextOrder(std::span<const int32_t> ids) const {
    return Ordered(std::vector<int32_t>(ids.begin(), ids.end()));
  }

  void CheckId(int64_t id) const {
    if (id >= 0 && id < tokenizer->size()) return;
    throw Error(ErrorKind::kUsage, fmt::format("token id {} is not in the vocabulary, expected 0 "
                                               "to {}",
                                               id, tokenizer->size() - 1));
  }
  void CheckIds(std::span<const int32_t> ids) const {
    for (const int32_t id : ids) CheckId(id);
  }
};

Vocabulary::Vocabulary(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Vocabulary::~Vocabulary() = default;

std::shared_ptr<const Vocabulary> Vocabulary::Load(const std::string& path) {
  return FromBytes(ReadFile(path), path);
}

std::shared_ptr<const Vocabulary> Vocabulary::FromBytes(std::string_view bytes,
                                                        const std::string& where) {
  auto impl = std::make_unique<Impl>();
  impl->tokenizer = ReadTokenizer(bytes, where);
  impl->bytes = std::string(bytes);
  return std::shared_ptr<const Vocabulary>(new Vocabulary(std::move(impl)));
}

std::shared_ptr<const Vocabulary> Vocabulary::Reversed() const {
  auto impl = std::make_unique<Impl>(*impl_);
  impl->reversed = !impl->reversed;
  return std::shared_ptr<const Vocabulary>(new Vocabulary(std::move(impl)));
}

std::vector<int32_t> Vocabulary::Encode(std::string_view line, int64_t* malformed) const {
  return impl_->Ordered(impl_->tokenizer->Encode(Repaired(line, malformed).view()));
}

std::vector<int32_t> Vocabulary::Sample(std::string_view line, double strength, uint64_t key,
                                        int64_t* malformed) const {
  return impl_->Ordered(impl_->tokenizer->Sample(Repaired(line, malformed).view(), strength, key));
}

std::vector<std::string> Vocabulary::UnknownTexts(std::string_view line) const {
  return impl_->tokenizer->UnknownTexts(Repaired(line, nullptr).view());
}

std::string Vocabulary::Decode(std::span<const int32_t> ids) const {
  impl_->CheckIds(ids);
  if (!impl_->reversed) return OneLine(impl_->tokenizer->Decode(ids));
  return OneLine(impl_->tokenizer->Decode(impl_->InTextOrder(ids)));
}

std::vector<int64_t> Vocabulary::WordsOfLine(std::string_view line) const {
  return impl_->Ordered(impl_->tokenizer->WordsOfLine(Repaired(line, nullptr).view()));
}

std::vector<int64_t> Vocabulary::WordsOfIds(std::span<const int32_t> ids) const {
  impl_->CheckIds(ids);
  return impl_->Ordered(impl_->tokenizer->WordsOfIds(impl_->InTextOrder(ids)));
}

int64_t Vocabulary::size() const { return impl_->tokenizer->size(); }
VocabularyType Vocabulary::type() const { return impl_->tokenizer->type(); }
SpecialIds Vocabulary::special_ids() const { return impl_->tokenizer->special_ids(); }

std::string Vocabulary::Piece(int32_t id) const {
  impl_->CheckId(id);
  return impl_->tokenizer->Piece(id);
}

int32_t Vocabulary::Id(std::string_view piece) const { return impl_->tokenizer->Id(piece); }
const std::string& Vocabulary::bytes() const { return impl_->bytes; }
const Tokenizer& Vocabulary::tokenizer() const { return *impl_->tokenizer; }

}  // namespace attend
