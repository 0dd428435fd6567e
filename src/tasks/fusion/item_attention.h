// What a model of fusion looks at in an item: the words of its text, the patches of its picture,
// its links.
#ifndef ATTEND_TASKS_FUSION_ITEM_ATTENTION_H_
#define ATTEND_TASKS_FUSION_ITEM_ATTENTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "attend/classifier.h"
#include "base/json.h"
#include "media/picture.h"
#include "tasks/attention_rollout.h"
#include "tasks/fusion/item_reader.h"

namespace attend {

// By the summary, which the class is read from. Its rows: the summary, the text's pieces, the
// picture's patches, row by row, and the linked nodes; those of an input that the item lacks are
// missing.
struct ItemAttention {
  RowAttention rows;
  std::vector<std::string> pieces;  // as the vocabulary spells them, bos and eos included
  std::vector<std::string> words;   // of the text, which spaces and tabs divide
  // The word that each piece belongs to; -1 for none, as of eos. [pieces]
  std::vector<int64_t> piece_words;
  Picture picture;                 // as the model reads it; empty: none
  std::vector<std::string> links;  // each once
};

// Whose attention is small enough to keep: 4 MB for each head of each layer.
constexpr int64_t kMostAttentionRows = 1024;

// Throws as ItemReader::Read, and Error(kInput) for an item of more rows.
ItemAttention AttentionOfItem(const ItemReader& reader, const ClassifiedItem& item);

// {"text": {"words", "pieces", "piece_words", "heads", "rollout"}, "picture": as
// PictureAttentionToJson gives it, "links": {"nodes", "heads", "rollout"}, "shares"}; null for an
// input that the item lacks. "heads" are [layers][heads][rows of the input]. "shares" has for each
// of "summary", "text", "picture" and "links" what its rows get together: {"heads":
// [layers][heads], "rollout"}. `patch`: side of a patch.
Json ItemAttentionToJson(const ItemAttention& attention, int64_t patch);

}  // namespace attend

#endif  // ATTEND_TASKS_FUSION_ITEM_ATTENTION_H_
