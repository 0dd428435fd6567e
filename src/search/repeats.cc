#include "search/repeats.h"

#include <algorithm>

namespace attend {

void AddRepeats(std::span<const int32_t> ids, int64_t n, std::vector<int32_t>* never) {
  if (std::ssize(ids) < n) return;
  const std::span<const int32_t> last = ids.last(n - 1);
  for (int64_t begin = 0; begin + n <= std::ssize(ids); ++begin)
    if (std::ranges::equal(ids.subspan(begin, n - 1), last)) never->push_back(ids[begin + n - 1]);
}

void AskFor(std::vector<int32_t> ids, std::vector<int32_t>* never, std::vector<int32_t>* also) {
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  std::erase_if(ids, [&](int32_t id) { return std::ranges::find(*never, id) != never->end(); });
  never->insert(never->end(), ids.begin(), ids.end());
  also->insert(also->end(), ids.begin(), ids.end());
}

}  // namespace attend
