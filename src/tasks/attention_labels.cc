#include "tasks/attention_labels.h"

namespace attend {
namespace {

std::vector<std::string> Pieces(const LabelledSide& side) {
  std::vector<std::string> pieces;
  for (const int32_t id : side.ids) pieces.push_back(side.vocabulary.Piece(id));
  return pieces;
}

std::vector<std::string> WithEos(std::vector<std::string> pieces, const Vocabulary& vocabulary) {
  pieces.push_back(vocabulary.Piece(static_cast<int32_t>(vocabulary.special_ids().eos)));
  return pieces;
}

}  // namespace

AttentionLabels LabelsOf(const LabelledSide& source, const LabelledSide& target) {
  const Vocabulary& vocabulary = target.vocabulary;
  AttentionLabels labels{.source = Pieces(source), .read = Pieces(target), .written = {}};
  if (source.has_eos) labels.source = WithEos(labels.source, source.vocabulary);
  labels.written = WithEos(labels.read, vocabulary);
  const auto bos = static_cast<int32_t>(vocabulary.special_ids().bos);
  labels.read.insert(labels.read.begin(), bos < 0 ? "" : vocabulary.Piece(bos));
  return labels;
}

}  // namespace attend
