#include <algorithm>

#include "fuzz/harness.h"
#include "serve/multipart.h"

// The first line is the Content-Type.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kInput, [](std::string_view text) {
    const size_t end = std::min(text.find('\n'), text.size());
    ParseMultipart(text.substr(0, end), text.substr(std::min(end + 1, text.size())));
  });
}
