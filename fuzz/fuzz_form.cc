#include "fuzz/harness.h"
#include "serve/form.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kInput, [](std::string_view form) { ParseForm(form); });
}
