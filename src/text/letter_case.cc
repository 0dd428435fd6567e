#include "text/letter_case.h"

#include <sentencepiece_processor.h>

namespace attend {

bool LowerCases(const Vocabulary& vocabulary) {
  sentencepiece::SentencePieceProcessor processor;
  std::string normalized;
  return processor.LoadFromSerializedProto(vocabulary.bytes()).ok() &&
         processor.Normalize("A", &normalized).ok() && normalized.find('a') != normalized.npos;
}

}  // namespace attend
