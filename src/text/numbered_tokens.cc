#include "text/numbered_tokens.h"

namespace attend {

std::vector<int32_t> NumberedIds(const Vocabulary& vocabulary,
                                 const std::function<std::string(int64_t)>& text, int64_t most) {
  std::vector<int32_t> ids;
  const auto unknown = static_cast<int32_t>(vocabulary.special_ids().unk);
  while (std::ssize(ids) < most) {
    const int32_t id = vocabulary.Id(text(std::ssize(ids)));
    if (id < 0 || id == unknown) break;
    ids.push_back(id);
  }
  return ids;
}

}  // namespace attend
