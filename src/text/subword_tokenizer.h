// The tokenizer that a tokenizer.json describes.
#ifndef ATTEND_TEXT_SUBWORD_TOKENIZER_H_
#define ATTEND_TEXT_SUBWORD_TOKENIZER_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "text/added_tokens.h"
#include "text/byte_trie.h"
#include "text/subword_model.h"
#include "text/text_normalizer.h"
#include "text/tokenizer.h"
#include "text/tokenizer_json.h"

namespace attend {

class SubwordTokenizer : public Tokenizer {
 public:
  explicit SubwordTokenizer(TokenizerFile file);

  std::vector<int32_t> Encode(std::string_view line) const override;
  std::vector<int32_t> Sample(std::string_view line, double strength, uint64_t key) const override;
  std::vector<std::string> UnknownTexts(std::string_view line) const override;
  // Special tokens give no text.
  std::string Decode(std::span<const int32_t> ids) const override;
  std::vector<int64_t> WordsOfLine(std::string_view line) const override;
  std::vector<int64_t> WordsOfIds(std::span<const int32_t> ids) const override;

  int64_t size() const override { return std::ssize(tokens_); }
  VocabularyType type() const override { return type_; }
  SpecialIds special_ids() const override { return special_ids_; }
  LetterCase letter_case() const override;
  std::string Piece(int32_t id) const override { return tokens_[id]; }
  int32_t Id(std::string_view piece) const override;
  bool IsControl(int32_t id) const override { return special_[id]; }

 private:
  // Where a word for the model comes from.
  struct WordPlace {
    const TrackedText& text;
    size_t part;    // where the part of the text with the word begins
    int64_t begin;  // where the word begins in the part; -1: its space is not in it
    // Where in the line a token of the word comes from.
    size_t OriginOf(const PlacedToken& token) const {
      return text.OriginOf(part + std::max<int64_t>(begin + static_cast<int64_t>(token.begin), 0));
    }
  };
  // What a line is made of, in order: tokens that stand in it as they are, and words.
  struct Visitor {
    std::function<void(int32_t id, size_t begin)> token;
    std::function<void(std::string_view word, const WordPlace& place)> word;
  };
  // Adds a word's tokens.
  using CutWord = std::function<void(std::string_view word, std::vector<PlacedToken>* tokens)>;
  std::vector<int32_t> IdsOf(std::string_view line, const CutWord& cut) const;
  // `track`: whether places in the line are wanted.
  void Visit(std::string_view line, bool track, const Visitor& visitor) const;

  struct Decoded {
    std::string text;
    std::vector<size_t> begins;  // of each id's text; an id without text is with the one before
    bool has_text = false;       // some id has
  };
  Decoded DecodeParts(std::span<const int32_t> ids) const;
  std::string TextOf(int32_t id, bool first) const;

  std::vector<std::string> tokens_;
  ByteTrie ids_;
  std::vector<bool> special_;  // by id
  // By id: the text of an added token that is looked for in normalized text.
  std::unordered_map<int32_t, std::string> normalized_texts_;
  AddedTokenFinder raw_, normalized_;
  std::vector<NormalizerStep> normalizer_;
  std::vector<SplitStep> splits_;
  TokenDecoder decoder_;
  SpecialIds special_ids_;
  VocabularyType type_;
  std::unique_ptr<const SubwordModel> model_;
};

}  // namespace attend

#endif  // ATTEND_TEXT_SUBWORD_TOKENIZER_H_
