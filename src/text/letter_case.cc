#include "text/letter_case.h"

#include "text/tokenizer.h"

namespace attend {

LetterCase CaseOf(const Vocabulary& vocabulary) {
  return ReadTokenizer(vocabulary.bytes(), "the vocabulary")->letter_case();
}

}  // namespace attend
