#include "text/letter_case.h"

#include <sentencepiece_processor.h>

namespace attend {

LetterCase CaseOf(const Vocabulary& vocabulary) {
  if (MarksCase(vocabulary.bytes(), "the vocabulary")) return LetterCase::kFactor;
  sentencepiece::SentencePieceProcessor processor;
  std::string normalized;
  const bool lower = processor.LoadFromSerializedProto(vocabulary.bytes()).ok() &&
                     processor.Normalize("A", &normalized).ok() &&
                     normalized.find('a') != normalized.npos;
  return lower ? LetterCase::kLower : LetterCase::kKeep;
}

}  // namespace attend
