// Entities in the labels of a sentence's words, as corpora of columns have them, and the schemes
// that spell them.
#ifndef ATTEND_TEXT_ENTITY_LABELS_H_
#define ATTEND_TEXT_ENTITY_LABELS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/model_config.h"

namespace attend {

// Words [begin, end) of a sentence.
struct Entity {
  std::string type;
  int64_t begin = 0, end = 0;
  bool operator==(const Entity&) const = default;
};

// A label's two parts: "B-PER" has B and PER, "O" no type.
struct LabelParts {
  explicit LabelParts(std::string_view label)
      : prefix(label.empty() ? 'O' : label[0]),
        type(label.size() > 2 && label[1] == '-' ? label.substr(2) : "") {}

  bool outside() const { return prefix == 'O'; }

  char prefix;
  std::string_view type;
};

// As options spell it: "iob2".
std::string_view NameOf(LabelScheme scheme);

// "O", or one of B, I, E and S, then "-" and a type.
bool IsEntityLabel(std::string_view label);

// The entities of one sentence's labels, of any scheme. Labels that break their scheme are read as
// conlleval reads them (Tjong Kim Sang and De Meulder 2003): an entity begins wherever the type
// changes.
std::vector<Entity> EntitiesOf(std::span<const std::string> labels);

// The labels of `words` words. Precondition: the entities are in order and do not overlap.
std::vector<std::string> LabelsOf(std::span<const Entity> entities, int64_t words,
                                  LabelScheme scheme);

// Whether a sentence may have `label` after `before`. "" as `before` stands for the sentence's
// begin, "" as `label` for its end.
bool MayFollow(std::string_view before, std::string_view label, LabelScheme scheme);

// The narrowest scheme that all labels of all sentences fit; none where none fits.
class SchemeFinder {
 public:
  void Add(std::span<const std::string> labels);
  std::optional<LabelScheme> Scheme() const;

 private:
  bool fits_[3] = {true, true, true};  // by scheme
};

}  // namespace attend

#endif  // ATTEND_TEXT_ENTITY_LABELS_H_
