#include "web/web_files.h"

#include <algorithm>
#include <cassert>

namespace attend {

const WebFile& FindWebFile(std::string_view name) {
  const auto files = WebFiles();
  const auto file = std::ranges::find(files, name, &WebFile::name);
  assert(file != files.end() && "src/web/CMakeLists.txt names every file");
  return *file;
}

}  // namespace attend
