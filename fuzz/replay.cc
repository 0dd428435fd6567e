// Runs a harness without libFuzzer: replay [--mutations N] FILE...  Each file as it is, which the
// reader has to take (else the copies reach nothing behind what it refuses), then N damaged copies.
#include <sys/resource.h>

#include <cstdio>
#include <cstring>

#include "base/files.h"
#include "fuzz/harness.h"
#include "fuzz/mutation.h"

namespace attend {
namespace {

// A reader that asks for much more than its small input explains gets std::bad_alloc, which ends
// the program. Sanitizers reserve terabytes of addresses for themselves.
void BoundMemory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit bound = {rlim_t{1} << 30, rlim_t{1} << 30};
  setrlimit(RLIMIT_AS, &bound);
#endif
}

void Run(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int Replay(int argc, char** argv) {
  BoundMemory();
  int64_t mutations = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--mutations") == 0 && i + 1 < argc) {
      mutations = std::atoll(argv[++i]);
      continue;
    }
    const std::string good = ReadFile(argv[i]);
    Run(good);
    if (!refusal.empty()) {
      std::fprintf(stderr, "%s is refused: %s\n", argv[i], refusal.c_str());
      return 1;
    }
    for (int64_t n = 0; n < mutations; ++n) {
      Random random{static_cast<uint64_t>(n)};
      const std::string bad = Mutate(good, &random);
      // Named before it runs, so that what ends the program can be found again.
      if (std::getenv("FUZZ_VERBOSE") != nullptr)
        std::fprintf(stderr, "%s mutation %lld\n", argv[i], static_cast<long long>(n));
      Run(bad);
    }
    std::printf("%s: 1 + %lld inputs\n", argv[i], static_cast<long long>(mutations));
  }
  return 0;
}

}  // namespace attend

int main(int argc, char** argv) { return attend::Replay(argc, argv); }
