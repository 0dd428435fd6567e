#include "text/sentencepiece_tokenizer.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <random>
#include <utility>

#include "attend/error.h"
#include "text/case_marks.h"
#include "text/lines.h"
#include "text/mask_token.h"
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

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

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

// "<0x41>", as SentencePiece spells a byte.
bool IsByte(std::string_view piece) {
  return piece.size() == 6 && piece.starts_with("<0x") && piece.ends_with('>');
}

// Whether a piece may stand for another text than it is: a byte, a mark of case, a masked tab.
bool StandsForOther(std::string_view piece) {
  const bool mark = std::find(kCaseMarks.begin(), kCaseMarks.end(), piece) != kCaseMarks.end();
  return mark || IsByte(piece) || piece == kMaskedTab || piece == kMaskedSpaceSign;
}

// Ids that stand for text, and what was among them.
struct PartedIds {
  std::vector<int> text;
  std::vector<PlacedMark> marks;  // before which of `text` they stand
  std::vector<size_t> owners;     // for each id, the one of `text` that it goes with
};

class SentencePieceTokenizer : public Tokenizer {
 public:
  SentencePieceTokenizer(std::string_view bytes, const std::string& where);

  std::vector<int32_t> Encode(std::string_view line) const override;
  std::vector<int32_t> Sample(std::string_view line, double strength, uint64_t key) const override;
  std::vector<std::string> UnknownTexts(std::string_view line) const override;
  std::string Decode(std::span<const int32_t> ids) const override;
  std::vector<int64_t> WordsOfLine(std::string_view line) const override;
  std::vector<int64_t> WordsOfIds(std::span<const int32_t> ids) const override;

  int64_t size() const override { return map_ ? map_->size() : processor_.GetPieceSize(); }
  VocabularyType type() const override { return kind_; }
  SpecialIds special_ids() const override { return special_; }
  LetterCase letter_case() const override;
  std::string Piece(int32_t id) const override;
  int32_t Id(std::string_view piece) const override;
  TokenText TextOf(int32_t id) const override;
  bool SpellsWhiteSpace() const override { return false; }
  int32_t WordSeparator() const override {
    return kind_ == VocabularyType::kChar ? Id(kSpaceSign) : -1;
  }
  int32_t mask_id() const override {
    const int32_t id = Id(kMaskToken);
    return id == special_.unk ? -1 : id;
  }
  std::vector<int32_t> EncodeMasked(std::string_view line) const override;

 private:
  bool IsControl(int32_t id) const { return map_ ? map_->IsControl(id) : processor_.IsControl(id); }

  // Ids that stand for text, as SentencePiece takes them, parted from control ids, which go with
  // the id before them, and from case marks, which go with the one they stand before (kEnd: after).
  PartedIds Part(std::span<const int32_t> ids) const {
    PartedIds parted;
    for (size_t i = 0; i < ids.size(); ++i) {
      const size_t before = std::max<size_t>(parted.text.size(), 1) - 1;
      const auto found = std::find(mark_ids_.begin(), mark_ids_.end(), ids[i]);
      const auto mark = static_cast<CaseMark>(found - mark_ids_.begin());
      if (IsControl(ids[i])) {
        parted.owners.push_back(before);
      } else if (found == mark_ids_.end()) {
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

  // Of a text that SentencePiece does not know the list may have an id: OPUS-MT's is that of two
  // models. No text gives a control id.
  int32_t IdOf(const TextPiece& piece) const {
    const auto id = static_cast<int32_t>(piece.id());
    if (!map_ || !processor_.IsUnknown(id)) return map_ ? map_->OfPiece(id) : id;
    const int32_t listed = map_->Id(piece.piece());
    return map_->IsControl(listed) ? static_cast<int32_t>(special_.unk) : listed;
  }

  void ReadMap(std::string_view bytes, const std::string& where) {
    std::vector<std::string> pieces;
    for (int id = 0; id < processor_.GetPieceSize(); ++id)
      pieces.push_back(processor_.IdToPiece(id));
    map_ = TokenMap::Read(bytes, pieces, where);
  }

  // `decoded`: a text, or pieces. Of tokens that SentencePiece does not know the space sign stays.
  template <class Decoded>
  void DecodeText(const std::vector<int>& ids, Decoded* decoded) const {
    if (!map_) return Check(processor_.Decode(ids, decoded), "decode ids");
    std::vector<std::string> tokens;
    for (const int id : ids) tokens.push_back(map_->Token(id));
    Check(processor_.Decode(tokens, decoded), "decode tokens");
  }

  void ReadMarks(std::string_view bytes, const std::string& where) {
    symbols_ = UserDefinedSymbols(bytes, where);
    for (const std::string_view mark : kCaseMarks) {
      mark_ids_.push_back(processor_.PieceToId({mark.data(), mark.size()}));
      if (processor_.IsUnknown(mark_ids_.back())) {
        throw Error(ErrorKind::kInput,
                    fmt::format("{}: the vocabulary marks case, but has no piece "
                                "{}; expected one as `attend vocab` makes it",
                                where, mark));
      }
      std::erase(symbols_, mark);
    }
  }

  // Two ids that are the character of the second.
  bool IsTwice(int32_t first, int32_t second) const {
    const int begin = mark_ids_[static_cast<size_t>(CaseMark::kBegin)];
    const int end = mark_ids_[static_cast<size_t>(CaseMark::kEnd)];
    return second == end ? first == begin : first == second;
  }

  // The line with its case as marks; `leads`: with one at its very start, before which
  // SentencePiece puts a space of its own.
  MarkedText Mark(absl::string_view line, bool* leads) const {
    std::string normalized;
    std::vector<size_t> places;
    Check(processor_.Normalize(line, &normalized, &places), "normalise a line");
    MarkedText marked = MarkCase(normalized, symbols_);
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
  std::vector<int32_t> Ids(std::string_view text, const Encode& encode) const {
    if (map_) return MappedIds(text, encode);
    const absl::string_view line = View(text);
    std::vector<int> ids;
    if (mark_ids_.empty()) {
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
    for (const AddedTokenFinder::Part& part : Parts(line)) {
      if (part.id >= 0) {
        ids.push_back(part.id);
        continue;
      }
      Pieces pieces;
      encode(View(line.substr(part.begin, part.end - part.begin)), pieces.mutable_proto());
      for (const TextPiece& piece : pieces.pieces())
        ids.insert(ids.end(), TokensOf(piece), IdOf(piece));
    }
    return ids;
  }

  // A line as SentencePiece's texts and tokens that stand in it as they are.
  std::vector<AddedTokenFinder::Part> Parts(std::string_view line) const {
    if (!map_) return {{.id = -1, .begin = 0, .end = line.size()}};
    const int32_t language = map_->LanguageOf(line);
    const size_t begin = language < 0 ? 0 : map_->Token(language).size();
    std::vector<AddedTokenFinder::Part> parts = map_->added().Find(line.substr(begin));
    for (AddedTokenFinder::Part& part : parts)
      part.begin += begin, part.end += begin, part.token_begin += begin;
    if (language >= 0) parts.insert(parts.begin(), {language, 0, begin, 0});
    return parts;
  }

  // Of a vocabulary that marks no case.
  std::vector<int64_t> WordsOfParts(std::string_view line) const;

  // Tokens of one of SentencePiece's pieces. It joins unknown words, or unknown characters, that
  // follow each other; where tokens are words or characters, each is one.
  int64_t TokensOf(const TextPiece& piece) const {
    if (!processor_.IsUnknown(static_cast<int>(piece.id()))) return 1;
    if (kind_ == VocabularyType::kChar) return CountCodePoints(piece.piece());
    if (kind_ != VocabularyType::kWord) return 1;
    int64_t words = 0;
    for (size_t at = 0; (at = piece.piece().find(kSpaceSign, at)) != std::string::npos; ++at)
      ++words;
    return std::max<int64_t>(words, 1);
  }

  Pieces PiecesOf(absl::string_view text) const {
    Pieces pieces;
    EncodePieces(text, pieces.mutable_proto());
    return pieces;
  }

  void EncodePieces(absl::string_view text, sentencepiece::SentencePieceText* pieces) const {
    Check(processor_.Encode(text, pieces), "encode a line");
  }

  void EncodePieces(absl::string_view text, std::vector<int>* ids) const {
    if (kind_ == VocabularyType::kBpe || kind_ == VocabularyType::kUnigram) {
      Check(processor_.Encode(text, ids), "encode a line");
      return;
    }
    const Pieces pieces = PiecesOf(text);
    for (const TextPiece& piece : pieces.pieces())
      ids->insert(ids->end(), TokensOf(piece), static_cast<int>(piece.id()));
  }

  std::string Unmasked(std::string text) const {
    if (!masks_) return text;
    Replace(kMaskedSpaceSign, kSpaceSign, &text);
    Replace(kMaskedTab, "\t", &text);
    return text;
  }

  sentencepiece::SentencePieceProcessor processor_;
  SpecialIds special_;
  VocabularyType kind_ = VocabularyType::kUnigram;
  std::optional<TokenMap> map_;  // of tokens that have other ids than SentencePiece's

  bool masks_ = false;  // tabs and U+2581
  // Of a vocabulary that marks case; else none.
  std::vector<std::string> symbols_;
  std::vector<int> mark_ids_;
};

SentencePieceTokenizer::SentencePieceTokenizer(std::string_view bytes, const std::string& where) {
  CheckCharacterMaps(bytes, where);
  sentencepiece::SetMinLogLevel(kLogLevel);
  std::string reason;
  try {
    const auto status = processor_.LoadFromSerializedProto(View(bytes));
    if (!status.ok()) reason = status.message();
  } catch (const std::exception& error) {
    reason = error.what();
  }
  if (!reason.empty()) {
    throw Error(ErrorKind::kInput, fmt::format("{}: not a SentencePiece model: {}", where, reason));
  }
  ReadMap(bytes, where);
  special_ = map_ ? map_->special_ids()
                  : SpecialIds{processor_.pad_id(), processor_.unk_id(), processor_.bos_id(),
                               processor_.eos_id()};
  const SpecialIds& ids = special_;
  if (!map_ && (ids.pad < 0 || ids.unk < 0 || ids.bos < 0 || ids.eos < 0)) {
    throw Error(ErrorKind::kInput, fmt::format("{}: the vocabulary lacks a special_ piece (pad {}, "
                                               "unk {}, bos {}, eos {}; -1 is none); expected "
                                               "all four, as `attend vocab` gives them",
                                               where, ids.pad, ids.unk, ids.bos, ids.eos));
  }
  kind_ = ReadType(bytes, where);
  masks_ = UndoesMasks(bytes, where);
  if (MarksCase(bytes, where)) ReadMarks(bytes, where);
}

std::vector<int32_t> SentencePieceTokenizer::Encode(std::string_view line) const {
  return Ids(line, [&](absl::string_view text, auto* ids) { EncodePieces(text, ids); });
}

// A generator that is seeded for every line has no state to save.
std::vector<int32_t> SentencePieceTokenizer::Sample(std::string_view line, double strength,
                                                    uint64_t key) const {
  constexpr int kAllCuts = -1;
  sentencepiece::random::GetRandomGenerator()->seed(static_cast<uint32_t>(key));
  return Ids(line, [&](absl::string_view text, auto* ids) {
    Check(processor_.SampleEncode(text, kAllCuts, static_cast<float>(strength), ids),
          "sample a line");
  });
}

std::vector<std::string> SentencePieceTokenizer::UnknownTexts(std::string_view line) const {
  bool leads = false;
  const std::string marked = mark_ids_.empty() ? "" : Mark(View(line), &leads).text;
  if (!mark_ids_.empty()) line = marked;
  std::vector<std::string> texts;
  for (const AddedTokenFinder::Part& part : Parts(line)) {
    if (part.id >= 0) continue;
    const Pieces pieces = PiecesOf(View(line.substr(part.begin, part.end - part.begin)));
    for (const TextPiece& piece : pieces.pieces())
      if (IdOf(piece) == special_.unk) Replace(kSpaceSign, " ", &texts.emplace_back(piece.piece()));
  }
  return texts;
}

std::string SentencePieceTokenizer::Decode(std::span<const int32_t> ids) const {
  PartedIds parted = Part(ids);
  if (parted.marks.empty()) {
    std::string text;
    DecodeText(parted.text, &text);
    return map_ ? Spaced(std::move(text)) : text;
  }
  Pieces pieces;
  DecodeText(parted.text, pieces.mutable_proto());
  const std::string text = SurfaceOf(pieces);
  for (PlacedMark& mark : parted.marks) {
    const bool last = mark.position == parted.text.size();
    mark.position = last ? text.size() : pieces.pieces(static_cast<int>(mark.position)).begin();
  }
  return Unmasked(ApplyCase(text, parted.marks));
}

std::vector<int64_t> SentencePieceTokenizer::WordsOfParts(std::string_view line) const {
  const std::vector<size_t> ends = WordEnds(line);
  std::vector<int64_t> words;
  for (const AddedTokenFinder::Part& part : Parts(line)) {
    if (part.id >= 0) {
      words.push_back(WordAt(part.token_begin, ends));
      continue;
    }
    const Pieces pieces = PiecesOf(View(line.substr(part.begin, part.end - part.begin)));
    for (const TextPiece& piece : pieces.pieces()) {
      const int64_t first = WordAt(part.begin + piece.begin(), ends), count = TokensOf(piece);
      const int64_t step = type() == VocabularyType::kWord ? 1 : 0;
      for (int64_t i = 0; i < count; ++i) words.push_back(first + i * step);
    }
  }
  return words;
}

std::vector<int64_t> SentencePieceTokenizer::WordsOfLine(std::string_view line) const {
  if (mark_ids_.empty()) return WordsOfParts(line);
  bool leads = false;
  const MarkedText marked = Mark(View(line), &leads);
  const Pieces pieces = PiecesOf(marked.text);
  const std::vector<size_t> ends = WordEnds(line);
  std::vector<int64_t> words;
  for (const TextPiece& piece : pieces.pieces())
    words.push_back(WordAt(marked.origins.at(piece.begin()), ends));
  if (leads) words.erase(words.begin());
  return words;
}

std::vector<int64_t> SentencePieceTokenizer::WordsOfIds(std::span<const int32_t> ids) const {
  const PartedIds parted = Part(ids);
  Pieces pieces;
  DecodeText(parted.text, pieces.mutable_proto());
  std::string text = OneLine(SurfaceOf(pieces));
  if (map_) Replace(kSpaceSign, "   ", &text);       // in as many bytes
  if (masks_) Replace(kMaskedTab, "\t\t\t", &text);  // in as many bytes
  const std::vector<int64_t> of_text = WordsOf(pieces, text);
  std::vector<int64_t> words;
  for (const size_t owner : parted.owners)
    words.push_back(of_text.empty() ? 0 : of_text[std::min(owner, of_text.size() - 1)]);
  return words;
}

LetterCase SentencePieceTokenizer::letter_case() const {
  if (!mark_ids_.empty()) return LetterCase::kFactor;
  std::string normalized;
  const bool lower =
      processor_.Normalize("A", &normalized).ok() && normalized.find('a') != normalized.npos;
  return lower ? LetterCase::kLower : LetterCase::kKeep;
}

std::string SentencePieceTokenizer::Piece(int32_t id) const {
  return map_ ? map_->Token(id) : processor_.IdToPiece(id);
}

int32_t SentencePieceTokenizer::Id(std::string_view piece) const {
  return map_ ? map_->Id(piece) : processor_.PieceToId(View(piece));
}

TokenText SentencePieceTokenizer::TextOf(int32_t id) const {
  if (IsControl(id)) return {};
  const std::string piece = Piece(id);
  TokenText found;
  found.begins_word = kind_ == VocabularyType::kWord || piece.starts_with(kSpaceSign);
  found.bytes = IsByte(piece);
  found.text = StandsForOther(piece) ? Decode({&id, 1}) : piece;
  Replace(kSpaceSign, " ", &found.text);
  if (found.text.starts_with(' ')) found.text.erase(0, 1);
  return found;
}

std::vector<int32_t> SentencePieceTokenizer::EncodeMasked(std::string_view line) const {
  const int32_t mask = mask_id();
  if (mask < 0) return Encode(line);
  std::vector<int32_t> ids;
  if (kind_ == VocabularyType::kWord) {  // which knows no [MASK] within a text
    while (true) {
      const size_t end = line.find(kMaskToken);
      const std::vector<int32_t> words = Encode(line.substr(0, end));
      ids.insert(ids.end(), words.begin(), words.end());
      if (end == line.npos) return ids;
      ids.push_back(mask);
      line.remove_prefix(end + kMaskToken.size());
    }
  }
  const int32_t space = kind_ == VocabularyType::kChar ? -1 : Id(kSpaceSign);
  for (const int32_t id : Encode(line)) {
    const bool spaced = !ids.empty() && ids.back() == space && space != special_.unk;
    if (id == mask && spaced) ids.pop_back();
    ids.push_back(id);
  }
  return ids;
}

}  // namespace

std::unique_ptr<const Tokenizer> ReadSentencePiece(std::string_view bytes,
                                                   const std::string& where) {
  return std::make_unique<SentencePieceTokenizer>(bytes, where);
}

// Parts of a message that are repeated are one, so what is new may stand at the end.
std::string ExtendedSentencePiece(std::string_view bytes, std::span<const std::string> pieces,
                                  bool symbols, const std::string& where) {
  constexpr uint64_t kPiece = 1, kText = 1, kType = 3, kTrainer = 2, kUserDefinedSymbols = 31;
  constexpr uint64_t kNormal = 1, kUserDefined = 4;
  std::string extended = TokenMap::Extend(bytes, pieces, where), names;
  for (const std::string& piece : pieces) {
    extended += ProtoField(
        kPiece, ProtoField(kText, piece) + ProtoField(kType, symbols ? kUserDefined : kNormal));
    names += ProtoField(kUserDefinedSymbols, piece);
  }
  if (symbols) extended += ProtoField(kTrainer, names);
  return extended;
}

}  // namespace attend
