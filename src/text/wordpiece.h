// WordPiece, as BERT cuts words (Devlin et al. 2019): the longest token that the word begins with,
// then the longest that the rest begins with, and so on.
#ifndef ATTEND_TEXT_WORDPIECE_H_
#define ATTEND_TEXT_WORDPIECE_H_

#include <span>
#include <string>
#include <vector>

#include "text/byte_trie.h"
#include "text/subword_model.h"

namespace attend {

struct WordPieceOptions {
  int32_t unk = 0;          // id of a word that can't be cut
  std::string prefix;       // of tokens that go on with a word, such as "##"
  uint64_t max_characters;  // a longer word is unknown
};

class WordPiece : public SubwordModel {
 public:
  // `tokens` by id.
  WordPiece(std::span<const std::string> tokens, const WordPieceOptions& options);

  void Encode(std::string_view word, std::vector<PlacedToken>* tokens) const override;
  [[noreturn]] void Sample(std::string_view word, double strength, Random* random,
                           std::vector<PlacedToken>* tokens) const override;
  std::vector<std::string> Unknown(std::string_view word) const override;

 private:
  // False, and nothing appended, where the word can't be cut.
  bool Cut(std::string_view word, std::vector<PlacedToken>* tokens) const;

  int32_t unk_;
  uint64_t max_characters_;
  ByteTrie first_;  // all tokens
  ByteTrie later_;  // those that go on with a word, without the prefix
};

}  // namespace attend

#endif  // ATTEND_TEXT_WORDPIECE_H_
