#include "base/per_process.h"

#include <pthread.h>

namespace attend {
namespace {

std::atomic<int64_t> forks{0};

}  // namespace

int64_t ForksSoFar() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  static_cast<void>(registered);
  return forks;
}

}  // namespace attend
