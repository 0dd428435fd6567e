#include "tasks/attention_labels.h"

namespace attend {
namespace {

// A vector of zeros has none.
std::vector<std::string> Pieces(const Vocabulary& vocabulary, std::span<const int32_t> ids) {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) pieces.push_back(id < 0 ? "" : vocabulary.Piece(id));
  return pieces;
}

}  // namespace

AttentionLabels LabelsOf(const ModelConfig& config, const LabelledSide& source,
                         const LabelledSide& target) {
  const std::vector<std::string> pieces =
      Pieces(target.vocabulary, config.TargetFrame().Around(target.ids));
  return {.source = Pieces(source.vocabulary, config.EncoderIds(source.ids)),
          .read = {pieces.begin(), pieces.end() - 1},
          .written = {pieces.begin() + 1, pieces.end()}};
}

}  // namespace attend
