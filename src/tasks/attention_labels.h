// What the rows and columns of attention weights stand for.
#ifndef ATTEND_TASKS_ATTENTION_LABELS_H_
#define ATTEND_TASKS_ATTENTION_LABELS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attend/model_config.h"
#include "attend/vocabulary.h"

namespace attend {

// Pieces, as the vocabularies spell them, for a PairScore's attention.
struct AttentionLabels {
  std::vector<std::string> source;   // as the encoder reads it: of encoder_self, and cross's keys
  std::vector<std::string> read;     // the target as the decoder reads it: of decoder_self
  std::vector<std::string> written;  // what follows each of these: cross's queries
};

// One side of a pair; ids without their frame.
struct LabelledSide {
  const Vocabulary& vocabulary;
  std::span<const int32_t> ids;
};

AttentionLabels LabelsOf(const ModelConfig& config, const LabelledSide& source,
                         const LabelledSide& target);

}  // namespace attend

#endif  // ATTEND_TASKS_ATTENTION_LABELS_H_
