#include "base/per_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mutex>

namespace attend {
namespace {

int StatusOf(pid_t child) {
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

struct Counted {
  explicit Counted(int* made) { ++*made; }
  std::mutex mutex;
  int value = 0;
};

TEST(PerProcessTest, AChildHasItsOwn) {
  int made = 0;
  const PerProcess<Counted> counted([&] { return std::make_unique<Counted>(&made); });
  EXPECT_EQ(made, 1);
  Counted* const own = &counted.Get();
  own->value = 7;
  const std::lock_guard held(own->mutex);  // as by another thread
  const pid_t child = fork();
  if (child == 0) {
    Counted& renewed = counted.Get();
    const std::lock_guard free(renewed.mutex);
    const bool fine =
        &renewed != own && &counted.Get() == &renewed && renewed.value == 0 && made == 2;
    _exit(fine ? 0 : 1);
  }
  EXPECT_EQ(StatusOf(child), 0);
  EXPECT_EQ(&counted.Get(), own);
  EXPECT_EQ(own->value, 7);
  EXPECT_EQ(made, 1);
}

}  // namespace
}  // namespace attend
