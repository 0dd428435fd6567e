#include "text/subword_tokenizer.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "base/random.h"
#include "text/lines.h"
#include "text/mask_token.h"
#include "text/utf8.h"

namespace attend {
namespace {

ByteTrie TrieOf(const std::vector<std::string>& tokens) {
  std::vector<std::pair<std::string_view, int32_t>> texts;
  for (size_t id = 0; id < tokens.size(); ++id)
    texts.emplace_back(tokens[id], static_cast<int32_t>(id));
  return ByteTrie(std::move(texts));
}

// Those that are looked for in text that is normalized, or is not.
AddedTokenFinder FinderOf(const std::vector<AddedToken>& tokens, bool normalized) {
  std::vector<AddedToken> found;
  for (const AddedToken& token : tokens)
    if (token.normalized == normalized) found.push_back(token);
  return AddedTokenFinder(std::move(found));
}

// [MASK] or <mask>, if the file adds it, else a [MASK] of the model's; -1 for none.
int32_t MaskOf(const std::vector<AddedToken>& added, const ByteTrie& ids) {
  for (const std::string_view text : {kMaskToken, kOtherMaskToken}) {
    const int32_t id = ids.Find(text);
    if (id >= 0 && std::ranges::count(added, id, &AddedToken::id) > 0) return id;
  }
  return ids.Find(kMaskToken);
}

// Without the spaces that WordPiece put before punctuation and English endings. The order matters.
std::string CleanUp(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> kChanges[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kChanges) Replace(from, to, &text);
  return text;
}

}  // namespace

SubwordTokenizer::SubwordTokenizer(TokenizerFile file)
    : tokens_(std::move(file.tokens)),
      ids_(TrieOf(tokens_)),
      special_(tokens_.size()),
      raw_(FinderOf(file.added_tokens, false)),
      normalized_(FinderOf(file.added_tokens, true)),
      normalizer_(std::move(file.normalizer)),
      splits_(std::move(file.splits)),
      decoder_(std::move(file.decoder)),
      special_ids_(file.special_ids) {
  // As in the library, a token is special if its text is that of a special token, and the text of a
  // normalized token is normalized.
  std::set<std::string_view> special;
  for (const AddedToken& token : file.added_tokens)
    if (token.special) special.insert(tokens_[token.id]);
  for (const AddedToken& token : file.added_tokens) {
    special_[token.id] = special.contains(token.content);
    if (token.normalized) normalized_texts_[token.id] = token.content;
  }
  mask_id_ = MaskOf(file.added_tokens, ids_);
  const auto of_model = std::span(tokens_).first(file.model_tokens);
  if (const auto* wordpiece = std::get_if<WordPieceOptions>(&file.model)) {
    type_ = VocabularyType::kWordPiece;
    continuing_prefix_ = wordpiece->prefix;
    model_ = std::make_unique<WordPiece>(of_model, *wordpiece);
  } else {
    type_ = VocabularyType::kByteBpe;
    model_ = std::make_unique<ByteBpe>(of_model, std::get<ByteBpeOptions>(file.model));
  }
}

void SubwordTokenizer::Visit(std::string_view line, bool track, const Visitor& visitor) const {
  for (const AddedTokenFinder::Part& part : raw_.Find(line)) {
    if (part.id >= 0) {
      visitor.token(part.id, part.token_begin);
      continue;
    }
    TrackedText text(line, part.begin, part.end, track);
    Normalize(normalizer_, &text);
    for (const AddedTokenFinder::Part& inner : normalized_.Find(text.text())) {
      if (inner.id >= 0) {
        visitor.token(inner.id, track ? text.OriginOf(inner.token_begin) : 0);
        continue;
      }
      const std::string_view words =
          std::string_view(text.text()).substr(inner.begin, inner.end - inner.begin);
      SplitWords(splits_, words, [&](std::string_view word, int64_t begin) {
        visitor.word(word, {text, inner.begin, begin});
      });
    }
  }
}

std::vector<int32_t> SubwordTokenizer::IdsOf(std::string_view line, const CutWord& cut) const {
  std::vector<int32_t> ids;
  std::vector<PlacedToken> tokens;
  Visit(line, false,
        {[&](int32_t id, size_t) { ids.push_back(id); },
         [&](std::string_view word, const WordPlace&) {
           tokens.clear();
           cut(word, &tokens);
           for (const PlacedToken& token : tokens) ids.push_back(token.id);
         }});
  return ids;
}

std::vector<int32_t> SubwordTokenizer::Encode(std::string_view line) const {
  return IdsOf(line, [&](std::string_view word, std::vector<PlacedToken>* tokens) {
    model_->Encode(word, tokens);
  });
}

std::vector<int32_t> SubwordTokenizer::Sample(std::string_view line, double strength,
                                              uint64_t key) const {
  Random random{key};
  return IdsOf(line, [&](std::string_view word, std::vector<PlacedToken>* tokens) {
    model_->Sample(word, strength, &random, tokens);
  });
}

std::vector<std::string> SubwordTokenizer::UnknownTexts(std::string_view line) const {
  std::vector<std::string> texts;
  Visit(line, false,
        {[](int32_t, size_t) {},
         [&](std::string_view word, const WordPlace&) {
           for (std::string& text : model_->Unknown(word)) texts.push_back(std::move(text));
         }});
  return texts;
}

std::vector<int64_t> SubwordTokenizer::WordsOfLine(std::string_view line) const {
  const std::vector<size_t> ends = WordEnds(line);
  std::vector<int64_t> words;
  std::vector<PlacedToken> tokens;
  Visit(line, true,
        {[&](int32_t, size_t begin) { words.push_back(WordAt(begin, ends)); },
         [&](std::string_view word, const WordPlace& place) {
           tokens.clear();
           model_->Encode(word, &tokens);
           for (const PlacedToken& token : tokens)
             words.push_back(WordAt(place.OriginOf(token), ends));
         }});
  return words;
}

std::string SubwordTokenizer::DecodedText(int32_t id, bool first) const {
  const auto normalized = normalized_texts_.find(id);
  const std::string& token =
      normalized == normalized_texts_.end() ? tokens_[id] : normalized->second;
  if (decoder_.kind == TokenDecoder::Kind::kBytes) return BytesOfToken(token).value_or(token);
  if (first) return decoder_.cleanup ? CleanUp(token) : token;
  if (decoder_.kind == TokenDecoder::Kind::kJoined) return " " + token;
  const bool goes_on = token.starts_with(decoder_.prefix);
  std::string text = goes_on ? token.substr(decoder_.prefix.size()) : " " + token;
  return decoder_.cleanup ? CleanUp(std::move(text)) : text;
}

SubwordTokenizer::Decoded SubwordTokenizer::DecodeParts(std::span<const int32_t> ids) const {
  Decoded decoded;
  size_t begin = 0;
  for (const int32_t id : ids) {
    if (!special_[id]) {
      begin = decoded.text.size();
      decoded.text += DecodedText(id, !decoded.has_text);
      decoded.has_text = true;
    }
    decoded.begins.push_back(begin);
  }
  return decoded;
}

std::string SubwordTokenizer::Decode(std::span<const int32_t> ids) const {
  return RepairUtf8(DecodeParts(ids).text, nullptr, Nul::kKept);
}

std::vector<int64_t> SubwordTokenizer::WordsOfIds(std::span<const int32_t> ids) const {
  const Decoded decoded = DecodeParts(ids);
  const std::vector<size_t> ends = WordEnds(OneLine(decoded.text));
  std::vector<int64_t> words;
  for (const size_t begin : decoded.begins)
    words.push_back(decoded.has_text ? WordAt(begin, ends) : 0);
  return words;
}

LetterCase SubwordTokenizer::letter_case() const {
  const bool lower = std::ranges::find(normalizer_, NormalizerStep::kLower) != normalizer_.end();
  return lower ? LetterCase::kLower : LetterCase::kKeep;
}

TokenText SubwordTokenizer::TextOf(int32_t id) const {
  TokenText found;
  if (!special_[id]) found.text = DecodedText(id, true);
  if (!SpellsWhiteSpace()) {
    found.begins_word = !tokens_[id].starts_with(continuing_prefix_);
    return found;
  }
  found.begins_word = found.text.starts_with(' ');
  if (found.begins_word) found.text.erase(0, 1);
  found.bytes = RepairUtf8(found.text, nullptr, Nul::kKept).find("\uFFFD") != std::string::npos;
  return found;
}

std::vector<int32_t> SubwordTokenizer::EncodeMasked(std::string_view line) const {
  std::string text(line);
  if (mask_id_ >= 0) Replace(kMaskToken, tokens_[mask_id_], &text);
  return Encode(text);
}

int32_t SubwordTokenizer::Id(std::string_view piece) const {
  const int32_t id = ids_.Find(piece);
  return id < 0 ? static_cast<int32_t>(special_ids_.unk) : id;
}

}  // namespace attend
