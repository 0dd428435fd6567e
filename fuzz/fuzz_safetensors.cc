#include <cstring>
#include <memory>
#include <vector>

#include "fuzz/harness.h"
#include "model/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kInput, [](std::string_view text) {
    auto aligned = std::make_shared<std::vector<uint64_t>>(text.size() / 8 + 1);
    if (!text.empty()) std::memcpy(aligned->data(), text.data(), text.size());
    const TensorTable table = ParseSafetensors(
        {reinterpret_cast<const std::byte*>(aligned->data()), text.size()}, aligned, "f");
    unsigned sum = 0;  // every byte that the table claims is there
    for (const TensorView& tensor : table.tensors()) {
      for (size_t i = 0; i < tensor.bytes(); ++i) sum += static_cast<unsigned>(tensor.data[i]);
    }
    volatile unsigned used = sum;
    (void)used;
  });
}
