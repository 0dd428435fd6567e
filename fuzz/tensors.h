// Tensors in bytes that a fuzzer hands out.
#ifndef ATTEND_FUZZ_TENSORS_H_
#define ATTEND_FUZZ_TENSORS_H_

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "model/safetensors.h"

namespace attend {

inline TensorTable ForeignTensors(std::string_view bytes) {
  auto aligned = std::make_shared<std::vector<uint64_t>>(bytes.size() / 8 + 1);
  if (!bytes.empty()) std::memcpy(aligned->data(), bytes.data(), bytes.size());
  return ParseSafetensors({reinterpret_cast<const std::byte*>(aligned->data()), bytes.size()},
                          aligned, "f");
}

}  // namespace attend

#endif  // ATTEND_FUZZ_TENSORS_H_
