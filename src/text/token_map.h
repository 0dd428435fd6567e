// Ids of tokens that are not those of the SentencePiece model which cuts the text: Marian's and
// OPUS-MT's models number tokens by a list of their own, and so do mBART's, which adds languages.
#ifndef ATTEND_TEXT_TOKEN_MAP_H_
#define ATTEND_TEXT_TOKEN_MAP_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attend/model_config.h"
#include "text/added_tokens.h"

namespace attend {

// Immutable.
class TokenMap {
 public:
  // Of the vocabulary file's field for it; none where it has none. `pieces`: what SentencePiece
  // calls each of its ids. Throws Error(kInput) for a list that makes no sense.
  static std::optional<TokenMap> Read(std::string_view file, const std::vector<std::string>& pieces,
                                      const std::string& where);

  // The vocabulary file with these tokens at the end of its list; as it is where it has none.
  static std::string Extend(std::string_view file, std::span<const std::string> tokens,
                            const std::string& where);

  int64_t size() const { return static_cast<int64_t>(tokens_.size()); }
  SpecialIds special_ids() const { return special_ids_; }
  const std::string& Token(int32_t id) const { return tokens_.at(id); }
  // Unk for what is no token.
  int32_t Id(std::string_view token) const;
  int32_t OfPiece(int piece) const { return of_pieces_.at(piece); }
  // Whether the id stands for no text: pad, bos, eos and what the list says of others.
  bool IsControl(int32_t id) const { return controls_.at(id); }
  // The token that a line begins with to name the language to translate to, such as >>de<<; its
  // length in bytes is that of the token. None: -1.
  int32_t LanguageOf(std::string_view line) const;
  // Tokens that stand in a text as they are, such as T5's <extra_id_0>: SentencePiece sees the
  // texts between them.
  const AddedTokenFinder& added() const { return added_; }

 private:
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, int32_t> ids_;
  std::vector<int32_t> of_pieces_;
  std::vector<bool> controls_;  // by id
  SpecialIds special_ids_;
  AddedTokenFinder added_{{}};
};

}  // namespace attend

#endif  // ATTEND_TEXT_TOKEN_MAP_H_
