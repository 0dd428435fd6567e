#include "attend/vocabulary.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <random>
#include <utility>

#include "attend/error.h"
#include "base/files.h"
#include "text/case_marks.h"
#include "text/lines.h"
#include "text/normalization.h"
#include "text/proto_fields.h"
#include "text/token_map.h"
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
    if (!NeedsRepair(line)) return;
    copy_ = RepairUtf8(line, malformed);
    view_ = copy_;
  }
  absl::string_view view() const { return {view_.data(), view_.size()}; }

 private:
  std::string copy_;
  std::string_view view_;
};

// The bytes LF, CR and NUL as spaces.
std::string OneLine(std::string text) {
  constexpr std::string_view kEnds("\n\r\0", 3);
  std::replace_if(
      text.begin(), text.end(), [&](char c) { return kEnds.find(c) != kEnds.npos; }, ' ');
  return text;
}

// Space signs of tokens that SentencePiece left as they were, as spaces.
std::string Spaced(std::string text) {
  Replace(kSpaceSign, " ", &text);
  const size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

using Pieces = sentencepiece::ImmutableSentencePieceText;
using TextPiece = sentencepiece::ImmutableSentencePieceText_ImmutableSentencePiece;

// What decoded pieces say, of which their places count; `pieces.text()` may be unmasked.
std::string SurfaceOf(const Pieces& pieces) {
  std::string text;
  for (const auto& piece : pieces.pieces()) text += piece.surface();
  return text;
}

// The word with the byte `at` of a text, or after it.
int64_t WordAt(size_t at, const std::vector<size_t>& word_ends) {
  const auto end = std::upper_bound(word_ends.begin(), word_ends.end(), at);
  return std::min<int64_t>(end - word_ends.begin(), std::ssize(word_ends) - 1);
}

// The word of `text` that each piece begins in or before.
std::vector<int64_t> WordsOf(const Pieces& pieces, std::string_view text) {
  const std::vector<size_t> ends = WordEnds(text);
  std::vector<int64_t> words;
  for (const auto& piece : pieces.pieces()) words.push_back(WordAt(piece.begin(), ends));
  return words;
}

// SentencePiece's TrainerSpec.model_type: 1 unigram, which it is where nothing else is said, 2 bpe,
// 3 word, 4 char.
VocabularyType ReadType(std::string_view model, const std::string& where) {
  constexpr uint64_t kTrainer = 2, kModelType = 3;
  uint64_t type = 1;
  ForEachField(model, kTrainer, where, [&](std::string_view trainer) {
    type = NumberField(trainer, kModelType, where).value_or(type);
  });
  if (type < 1 || type > 4) DamagedModel(where, "its model type is unknown");
  return static_cast<VocabularyType>(type - 1);
}

// Ids that stand for text, and what was among them.
struct PartedIds {
  std::vector<int> text;
  std::vector<PlacedMark> marks;  // before which of `text` they stand
  std::vector<size_t> owners;     // for each id, the one of `text` that it goes with
};

}  // namespace

struct Vocabulary::Impl {
  std::string bytes;
  sentencepiece::SentencePieceProcessor processor;
  SpecialIds special_ids;
  VocabularyType type = VocabularyType::kUnigram;
  std::optional<TokenMap> map;  // of tokens that have other ids than SentencePiece's

  bool masks = false;  // tabs and U+2581
  // Of a vocabulary that marks case; else none.
  std::vector<std::string> symbols;
  std::vector<int> mark_ids;

  // Ids that stand for text, as SentencePiece takes them, parted from control ids, which go with
  // the id before them, and from case marks, which go with the one they stand before (kEnd: after).
  PartedIds Part(std::span<const int32_t> ids) const {
    PartedIds parted;
    for (size_t i = 0; i < ids.size(); ++i) {
      CheckId(ids[i]);
      const size_t before = std::max<size_t>(parted.text.size(), 1) - 1;
      const auto found = std::find(mark_ids.begin(), mark_ids.end(), ids[i]);
      const auto mark = static_cast<CaseMark>(found - mark_ids.begin());
      if (IsControl(ids[i])) {
        parted.owners.push_back(before);
      } else if (found == mark_ids.end()) {
        parted.owners.push_back(parted.text.size());
        parted.text.push_back(ids[i]);
      } else if (i + 1 < ids.size() && IsTwice(ids[i], ids[i + 1])) {
        parted.owners.insert(parted.owners.end(), 2, parted.text.size());
        parted.text.push_back(ids[++i]);
      } else {
        parted.owners.push_back(mark == CaseMark::kEnd ? before : parted.text.size());
        parted.marks.push_back({parted.text.size(), mark});
      }
    }
    return parted;
  }

  bool IsControl(int32_t id) const { return map ? map->IsControl(id) : processor.IsControl(id); }
  bool IsUnknownPiece(int piece) const {
    return processor.IsUnknown(piece) || (map && map->OfPiece(piece) == map->special_ids().unk);
  }
  int64_t size() const { return map ? map->size() : processor.GetPieceSize(); }

  void ReadMap(const std::string& where) {
    std::vector<std::string> pieces;
    for (int id = 0; id < processor.GetPieceSize(); ++id) pieces.push_back(processor.IdToPiece(id));
    map = TokenMap::Read(bytes, pieces, where);
  }

  // `decoded`: a text, or pieces. Of tokens that SentencePiece does not know the space sign stays.
  template <class Decoded>
  void DecodeText(const std::vector<int>& ids, Decoded* decoded) const {
    if (!map) return Check(processor.Decode(ids, decoded), "decode ids");
    std::vector<std::string> tokens;
    for (const int id : ids) tokens.push_back(map->Token(id));
    Check(processor.Decode(tokens, decoded), "decode tokens");
  }

  void ReadMarks(const std::string& where) {
    symbols = UserDefinedSymbols(bytes, where);
    for (const std::string_view mark : kCaseMarks) {
      mark_ids.push_back(processor.PieceToId({mark.data(), mark.size()}));
      if (processor.IsUnknown(mark_ids.back())) {
        throw Error(ErrorKind::kInput,
                    fmt::format("{}: the vocabulary marks case, but has no piece "
                                "{}; expected one as `attend vocab` makes it",
                                where, mark));
      }
      std::erase(symbols, mark);
    }
  }

  // Two ids that are the character of the second.
  bool IsTwice(int32_t first, int32_t second) const {
    const int begin = mark_ids[static_cast<size_t>(CaseMark::kBegin)];
    const int end = mark_ids[static_cast<size_t>(CaseMark::kEnd)];
    return second == end ? first == begin : first == second;
  }

  // The line with its case as marks; `leads`: with one at its very start, before which
  // SentencePiece puts a space of its own.
  MarkedText Mark(absl::string_view line, bool* leads) const {
    std::string normalized;
    std::vector<size_t> places;
    Check(processor.Normalize(line, &normalized, &places), "normalise a line");
    MarkedText marked = MarkCase(normalized, symbols);
    *leads = !marked.text.empty() && marked.text.front() != ' ';
    if (!marked.text.empty() && !*leads) {
      marked.text.erase(0, 1);
      marked.origins.erase(marked.origins.begin());
    }
    for (size_t& origin : marked.origins) origin = places[origin];
    return marked;
  }

  // Ids as `encode(text, ids)` makes them of the line, or of the line with case marks.
  template <class Encode>
  std::vector<int32_t> Ids(absl::string_view line, const Encode& encode) const {
    std::vector<int> ids;
    if (map) return MappedIds({line.data(), line.size()}, encode);
    if (mark_ids.empty()) {
      encode(line, &ids);
      return ids;
    }
    bool leads = false;
    encode(absl::string_view(Mark(line, &leads).text), &ids);
    if (leads) ids.erase(ids.begin());
    return ids;
  }

  template <class Encode>
  std::vector<int32_t> MappedIds(std::string_view line, const Encode& encode) const {
    std::vector<int32_t> ids;
    const int32_t language = map->LanguageOf(line);
    if (language >= 0) {
      ids.push_back(language);
      line.remove_prefix(map->Token(language).size());
    }
    std::vector<int> pieces;
    encode(absl::string_view(line.data(), line.size()), &pieces);
    for (const int piece : pieces) ids.push_back(map->OfPiece(piece));
    return ids;
  }

  // Tokens of one of SentencePiece's pieces. It joins unknown words, or unknown characters, that
  // follow each other; where tokens are words or characters, each is one.
  int64_t TokensOf(const TextPiece& piece) const {
    if (!processor.IsUnknown(static_cast<int>(piece.id()))) return 1;
    if (type == VocabularyType::kChar) return CountCodePoints(piece.piece());
    if (type != VocabularyType::kWord) return 1;
    int64_t words = 0;
    for (size_t at = 0; (at = piece.piece().find(kSpaceSign, at)) != std::string::npos; ++at)
      ++words;
    return std::max<int64_t>(words, 1);
  }

  void Encode(absl::string_view text, std::vector<int>* ids) const {
    if (type == VocabularyType::kBpe || type == VocabularyType::kUnigram) {
      Check(processor.Encode(text, ids), "encode a line");
      return;
    }
    Pieces pieces;
    Check(processor.Encode(text, pieces.mutable_proto()), "encode a line");
    for (const TextPiece& piece : pieces.pieces())
      ids->insert(ids->end(), TokensOf(piece), static_cast<int>(piece.id()));
  }

  std::string Unmasked(std::string text) const {
    if (!masks) return text;
    Replace(kMaskedSpaceSign, kSpaceSign, &text);
    Replace(kMaskedTab, "\t", &text);
    return text;
  }

  void CheckId(int64_t id) const {
    if (id < 0 || id >= size()) {
      throw Error(
          ErrorKind::kUsage,
          fmt::format("token id {} is not in the vocabulary, expected 0 to {}", id, size() - 1));
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
  impl->ReadMap(where);
  impl->special_ids = impl->map ? impl->map->special_ids()
                                : SpecialIds{processor.pad_id(), processor.unk_id(),
                                             processor.bos_id(), processor.eos_id()};
  const SpecialIds& ids = impl->special_ids;
  const bool lacks = !impl->map && (ids.pad < 0 || ids.unk < 0 || ids.bos < 0 || ids.eos < 0);
  if (lacks) {
    throw Error(ErrorKind::kInput, fmt::format("{}: the vocabulary lacks a special piece (pad {}, "
                                               "unk {}, bos {}, eos {}; -1 is none); expected "
                                               "all four, as `attend vocab` gives them",
                                               where, ids.pad, ids.unk, ids.bos, ids.eos));
  }
  impl->type = ReadType(bytes, where);
  impl->masks = UndoesMasks(bytes, where);
  if (MarksCase(bytes, where)) impl->ReadMarks(where);
  return std::shared_ptr<const Vocabulary>(new Vocabulary(std::move(impl)));
}

std::vector<int32_t> Vocabulary::Encode(std::string_view line, int64_t* malformed) const {
  return impl_->Ids(Repaired(line, malformed).view(),
                    [&](absl::string_view text, auto* ids) { impl_->Encode(text, ids); });
}

// A generator that is seeded for every line has no state to save.
std::vector<int32_t> Vocabulary::Sample(std::string_view line, double strength, uint64_t key,
                                        int64_t* malformed) const {
  constexpr int kAllCuts = -1;
  sentencepiece::random::GetRandomGenerator()->seed(static_cast<uint32_t>(key));
  return impl_->Ids(Repaired(line, malformed).view(), [&](absl::string_view text, auto* ids) {
    Check(impl_->processor.SampleEncode(text, kAllCuts, static_cast<float>(strength), ids),
          "sample a line");
  });
}

std::vector<std::string> Vocabulary::UnknownTexts(std::string_view line) const {
  const Repaired repaired(line, nullptr);
  Pieces pieces;
  bool leads = false;
  const std::string marked =
      impl_->mark_ids.empty() ? "" : impl_->Mark(repaired.view(), &leads).text;
  Check(impl_->processor.Encode(impl_->mark_ids.empty() ? repaired.view() : marked,
                                pieces.mutable_proto()),
        "encode a line");
  std::vector<std::string> texts;
  for (const auto& piece : pieces.pieces()) {
    if (impl_->IsUnknownPiece(static_cast<int>(piece.id()))) texts.push_back(piece.piece());
  }
  return texts;
}

std::string Vocabulary::Decode(std::span<const int32_t> ids) const {
  PartedIds parted = impl_->Part(ids);
  if (parted.marks.empty()) {
    std::string text;
    impl_->DecodeText(parted.text, &text);
    if (impl_->map) text = Spaced(std::move(text));
    return OneLine(std::move(text));
  }
  Pieces pieces;
  impl_->DecodeText(parted.text, pieces.mutable_proto());
  const std::string text = SurfaceOf(pieces);
  for (PlacedMark& mark : parted.marks) {
    const bool last = mark.position == parted.text.size();
    mark.position = last ? text.size() : pieces.pieces(static_cast<int>(mark.position)).begin();
  }
  return OneLine(impl_->Unmasked(ApplyCase(text, parted.marks)));
}

std::vector<int64_t> Vocabulary::WordsOfLine(std::string_view line) const {
  const std::string text = RepairUtf8(line);
  Pieces pieces;
  if (impl_->mark_ids.empty()) {
    const int32_t language = impl_->map ? impl_->map->LanguageOf(text) : -1;
    const size_t begin = language < 0 ? 0 : impl_->map->Token(language).size();
    Check(impl_->processor.Encode(text.substr(begin), pieces.mutable_proto()), "encode a line");
    const std::vector<size_t> ends = WordEnds(text);
    std::vector<int64_t> words(language < 0 ? 0 : 1);
    for (const TextPiece& piece : pieces.pieces()) {
      const int64_t first = WordAt(begin + piece.begin(), ends), count = impl_->TokensOf(piece);
      const int64_t step = type() == VocabularyType::kWord ? 1 : 0;
      for (int64_t i = 0; i < count; ++i) words.push_back(first + i * step);
    }
    return words;
  }
  bool leads = false;
  const MarkedText marked = impl_->Mark(text, &leads);
  Check(impl_->processor.Encode(marked.text, pieces.mutable_proto()), "encode a line");
  const std::vector<size_t> ends = WordEnds(text);
  std::vector<int64_t> words;
  for (const auto& piece : pieces.pieces())
    words.push_back(WordAt(marked.origins.at(piece.begin()), ends));
  if (leads) words.erase(words.begin());
  return words;
}

std::vector<int64_t> Vocabulary::WordsOfIds(std::span<const int32_t> ids) const {
  const PartedIds parted = impl_->Part(ids);
  Pieces pieces;
  impl_->DecodeText(parted.text, pieces.mutable_proto());
  std::string text = OneLine(SurfaceOf(pieces));
  if (impl_->map) Replace(kSpaceSign, "   ", &text);       // in as many bytes
  if (impl_->masks) Replace(kMaskedTab, "\t\t\t", &text);  // in as many bytes
  const std::vector<int64_t> of_text = WordsOf(pieces, text);
  std::vector<int64_t> words;
  for (const size_t owner : parted.owners)
    words.push_back(of_text.empty() ? 0 : of_text[std::min(owner, of_text.size() - 1)]);
  return words;
}

int64_t Vocabulary::size() const { return impl_->size(); }
VocabularyType Vocabulary::type() const { return impl_->type; }
SpecialIds Vocabulary::special_ids() const { return impl_->special_ids; }

std::string Vocabulary::Piece(int32_t id) const {
  impl_->CheckId(id);
  return impl_->map ? impl_->map->Token(id) : impl_->processor.IdToPiece(id);
}

int32_t Vocabulary::Id(std::string_view piece) const {
  if (impl_->map) return impl_->map->Id(piece);
  return impl_->processor.PieceToId(absl::string_view(piece.data(), piece.size()));
}

const std::string& Vocabulary::bytes() const { return impl_->bytes; }

}  // namespace attend
