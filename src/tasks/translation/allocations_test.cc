// Decoding allocates as outputs grow, a few times for each sentence, and nothing at a step. The
// program counts all of C++'s allocations; a test of its own for that.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "attend/translator.h"
#include "model/model_directory.h"

namespace {

std::atomic<int64_t> allocations{0};

void* Allocate(size_t bytes, size_t alignment) {
  ++allocations;
  void* p = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

void* operator new(size_t bytes) { return Allocate(bytes, alignof(std::max_align_t)); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }

namespace attend {
namespace {

TEST(AllocationsTest, NoneAtAStep) {
  const auto model = LoadModel(ATTEND_SOURCE_DIR "/tests/data/golden_v1");
  TranslatorOptions made;
  made.threads = 1;
  const Translator translator(model, made);
  const std::vector<std::vector<int32_t>> sources(2, {5, 6, 7, 8});
  for (const int64_t beam_size : {1, 4}) {
    const auto count = [&](int64_t length) {
      TranslationOptions options;
      options.beam_size = beam_size;
      options.min_length = options.max_length = length;
      const int64_t before = allocations;
      EXPECT_EQ(translator.TranslateIds(sources, options)[0].hypotheses[0].ids.size(), length);
      return allocations - before;
    };
    count(80);  // what is made once
    const int64_t few = count(20), many = count(80);
    const int64_t doublings = 2;  // from 20 to 80
    EXPECT_LE(many - few, 4 * doublings * std::ssize(sources)) << few << " and " << many;
    EXPECT_GT(few, 0);
  }
}

}  // namespace
}  // namespace attend
