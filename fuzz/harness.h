// A harness reads foreign bytes as libFuzzer, or replay.cc, hands them out. The reader may take
// them or throw Error of the kind it promises; anything else (another exception, a sanitizer's
// finding, too much memory) is a fault.
#ifndef ATTEND_FUZZ_HARNESS_H_
#define ATTEND_FUZZ_HARNESS_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "attend/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace attend {

// What the reader said of the last bytes it was given; empty: it took them. A variable, since
// libFuzzer's function has no other way to tell replay.cc.
inline std::string refusal;

template <class Read>
int ReadForeign(const uint8_t* data, size_t size, ErrorKind promised, const Read& read) {
  refusal.clear();
  try {
    read(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const Error& error) {
    // One line, of the promised kind, that a person can read.
    refusal = error.what();
    if (std::getenv("FUZZ_VERBOSE") != nullptr) std::fprintf(stderr, "%s\n", refusal.c_str());
    if (error.kind() != promised || refusal.empty() || refusal.size() > 2000 ||
        refusal.find('\n') != std::string::npos)
      std::abort();
  }
  return 0;
}

}  // namespace attend

#endif  // ATTEND_FUZZ_HARNESS_H_
