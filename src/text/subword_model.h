// Cuts a word into tokens.
#ifndef ATTEND_TEXT_SUBWORD_MODEL_H_
#define ATTEND_TEXT_SUBWORD_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace attend {

struct PlacedToken {
  int32_t id = 0;
  size_t begin = 0;  // where it begins, in bytes
};

// Immutable; safe to use from many threads. A word is UTF-8 and not empty.
class SubwordModel {
 public:
  virtual ~SubwordModel() = default;

  // Appends the tokens of the word; places are those in the word.
  virtual void Encode(std::string_view word, std::vector<PlacedToken>* tokens) const = 0;
  // The same for one cut of the word drawn at random. Throws Error(kUsage) for a model that has one
  // cut only.
  virtual void Sample(std::string_view word, double strength, Random* random,
                      std::vector<PlacedToken>* tokens) const = 0;
  // What in the word has no token. Characters that follow each other form one text.
  virtual std::vector<std::string> Unknown(std::string_view word) const = 0;
};

}  // namespace attend

#endif  // ATTEND_TEXT_SUBWORD_MODEL_H_
