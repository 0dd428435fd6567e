#include <algorithm>

#include "data/items.h"
#include "fuzz/harness.h"

namespace attend {
namespace {

// Each line by itself, as `attend classify` takes them; one that is refused keeps no other from
// being read.
void ReadForeignItem(std::string_view line) {
  const Item item = ParseItem(std::string(line), "folder", "f:1");
  std::vector<std::string> links = item.links;
  std::ranges::sort(links);
  if (std::ranges::adjacent_find(links) != links.end()) std::abort();
  if (item.origin != Origin{}) std::abort();
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    ReadForeign(reinterpret_cast<const uint8_t*>(rest.data()), end, ErrorKind::kInput,
                ReadForeignItem);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return 0;
}
