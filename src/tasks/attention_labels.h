// What the rows and columns of attention weights stand for.
#ifndef ATTEND_TASKS_ATTENTION_LABELS_H_
#define ATTEND_TASKS_ATTENTION_LABELS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attend/vocabulary.h"

namespace attend {

// Pieces, as the vocabularies spell them, for a PairScore's attention.
struct AttentionLabels {
  std::vector<std::string> source;   // with eos if it has one: of encoder_self, and cross's keys
  std::vector<std::string> read;     // bos and the target: of decoder_self
  std::vector<std::string> written;  // the target with eos: cross's queries
};

// One side of a pair; ids without bos and eos.
struct LabelledSide {
  const Vocabulary& vocabulary;
  std::span<const int32_t> ids;
  bool has_eos = true;
};

AttentionLabels LabelsOf(const LabelledSide& source, const LabelledSide& target);

}  // namespace attend

#endif  // ATTEND_TASKS_ATTENTION_LABELS_H_
