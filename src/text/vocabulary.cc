#include "attend/vocabulary.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <random>
#include <utility>

#include "attend/error.h"
#include "base/files.h"
#include "text/lines.h"
#include "text/normalization.h"
#include "text/utf8.h"
#include "text/vocabulary_trainer.h"

// SentencePiece's generator of this thread, which its header does not declare.
namespace sentencepiece::random {
std::mt19937* GetRandomGenerator();
}

namespace attend {
namespace {

void Check(const sentencepiece::util::Status& status, const char* action) {
  if (!status.ok()) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("SentencePiece can't {}: {}", action, status.ToString()));
  }
}

// A line as UTF-8 text; copied only where it is not.
class Repaired {
 public:
  Repaired(std::string_view line, int64_t* malformed) : view_(line) {
    if (IsValidUtf8(line)) return;
    copy_ = RepairUtf8(line, malformed);
    view_ = copy_;
  }
  absl::string_view view() const { return {view_.data(), view_.size()}; }

 private:
  std::string copy_;
  std::string_view view_;
};

// The bytes LF and CR as spaces.
std::string OneLine(std::string text) {
  std::replace_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

// The word of `text` that each piece begins in or before.
std::vector<int64_t> WordsOf(const sentencepiece::ImmutableSentencePieceText& pieces,
                             std::string_view text) {
  const std::vector<size_t> ends = WordEnds(text);
  std::vector<int64_t> words;
  for (const auto& piece : pieces.pieces()) {
    const auto end = std::upper_bound(ends.begin(), ends.end(), size_t{piece.begin()});
    words.push_back(std::min<int64_t>(end - ends.begin(), std::ssize(ends) - 1));
  }
  return words;
}

}  // namespace

struct Vocabulary::Impl {
  std::string bytes;
  sentencepiece::SentencePieceProcessor processor;
  SpecialIds special_ids;

  // Those that stand for text, as SentencePiece takes them.
  std::vector<int> WithoutControl(std::span<const int32_t> ids) const {
    std::vector<int> kept;
    for (const int32_t id : ids) {
      CheckId(id);
      if (!processor.IsControl(id)) kept.push_back(id);
    }
    return kept;
  }

  void CheckId(int64_t id) const {
    if (id < 0 || id >= processor.GetPieceSize()) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("token id {} is not in the vocabulary, expected 0 to {}", id,
                              processor.GetPieceSize() - 1));
    }
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
  impl->bytes = std::string(bytes);
  if (bytes.empty())
    throw Error(ErrorKind::kInput,
                fmt::format("{}: the file is empty; expected a SentencePiece model", where));
  CheckCharacterMaps(bytes, where);
  sentencepiece::SetMinLogLevel(kLogLevel);
  std::string reason;
  try {
    const auto status = impl->processor.LoadFromSerializedProto(impl->bytes);
    if (!status.ok()) reason = status.message();
  } catch (const std::exception& error) {
    reason = error.what();
  }
  if (!reason.empty()) {
    throw Error(ErrorKind::kInput, fmt::format("{}: not a SentencePiece model: {}", where, reason));
  }
  const auto& processor = impl->processor;
  impl->special_ids = {processor.pad_id(), processor.unk_id(), processor.bos_id(),
                       processor.eos_id()};
  const SpecialIds& ids = impl->special_ids;
  if (ids.pad < 0 || ids.unk < 0 || ids.bos < 0 || ids.eos < 0) {
    throw Error(ErrorKind::kInput, fmt::format("{}: the vocabulary lacks a special piece (pad {}, "
                                               "unk {}, bos {}, eos {}; -1 is none); expected "
                                               "all four, as `attend vocab` gives them",
                                               where, ids.pad, ids.unk, ids.bos, ids.eos));
  }
  return std::shared_ptr<const Vocabulary>(new Vocabulary(std::move(impl)));
}

std::vector<int32_t> Vocabulary::Encode(std::string_view line, int64_t* malformed) const {
  std::vector<int> ids;
  Check(impl_->processor.Encode(Repaired(line, malformed).view(), &ids), "encode a line");
  return ids;
}

// A generator that is seeded for every line has no state to save.
std::vector<int32_t> Vocabulary::Sample(std::string_view line, double strength, uint64_t key,
                                        int64_t* malformed) const {
  constexpr int kAllCuts = -1;
  sentencepiece::random::GetRandomGenerator()->seed(static_cast<uint32_t>(key));
  std::vector<int> ids;
  Check(impl_->processor.SampleEncode(Repaired(line, malformed).view(), kAllCuts,
                                      static_cast<float>(strength), &ids),
        "sample a line");
  return ids;
}

std::vector<std::string> Vocabulary::UnknownTexts(std::string_view line) const {
  sentencepiece::ImmutableSentencePieceText pieces;
  Check(impl_->processor.Encode(Repaired(line, nullptr).view(), pieces.mutable_proto()),
        "encode a line");
  std::vector<std::string> texts;
  for (const auto& piece : pieces.pieces()) {
    if (impl_->processor.IsUnknown(static_cast<int>(piece.id()))) texts.push_back(piece.piece());
  }
  return texts;
}

std::string Vocabulary::Decode(std::span<const int32_t> ids) const {
  std::string text;
  Check(impl_->processor.Decode(impl_->WithoutControl(ids), &text), "decode ids");
  return OneLine(std::move(text));
}

std::vector<int64_t> Vocabulary::WordsOfLine(std::string_view line) const {
  const std::string text = RepairUtf8(line);
  sentencepiece::ImmutableSentencePieceText pieces;
  Check(impl_->processor.Encode(text, pieces.mutable_proto()), "encode a line");
  return WordsOf(pieces, text);
}

std::vector<int64_t> Vocabulary::WordsOfIds(std::span<const int32_t> ids) const {
  sentencepiece::ImmutableSentencePieceText pieces;
  Check(impl_->processor.Decode(impl_->WithoutControl(ids), pieces.mutable_proto()), "decode ids");
  std::vector<int64_t> words = WordsOf(pieces, OneLine(pieces.text()));
  for (size_t i = 0; i < ids.size(); ++i) {  // what gives no text goes with its neighbour
    if (!impl_->processor.IsControl(ids[i])) continue;
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(i), i > 0 ? words[i - 1] : 0);
  }
  return words;
}

int64_t Vocabulary::size() const { return impl_->processor.GetPieceSize(); }
bool Vocabulary::is_bpe() const {
  std::vector<std::vector<int>> cuts;
  return !impl_->processor.NBestEncode("a", 1, &cuts).ok();  // which BPE has not
}
SpecialIds Vocabulary::special_ids() const { return impl_->special_ids; }

std::string Vocabulary::Piece(int32_t id) const {
  impl_->CheckId(id);
  return impl_->processor.IdToPiece(id);
}

int32_t Vocabulary::Id(std::string_view piece) const {
  return impl_->processor.PieceToId(absl::string_view(piece.data(), piece.size()));
}

const std::string& Vocabulary::bytes() const { return impl_->bytes; }

}  // namespace attend
