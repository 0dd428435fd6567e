// Memory that starts on a cache line, so that no vector load spans two; large pieces start on a
// huge page, so that running through them costs few address translations.
#ifndef ATTEND_ENGINE_BLOCKS_ALIGNED_H_
#define ATTEND_ENGINE_BLOCKS_ALIGNED_H_

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace attend {

inline constexpr size_t kCacheLine = 64, kHugePage = size_t{1} << 21;  // bytes

inline constexpr size_t RoundUp(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

template <class T>
struct AlignedAllocator {
  using value_type = T;

  AlignedAllocator() = default;
  template <class Other>
  AlignedAllocator(const AlignedAllocator<Other>&) {}
  T* allocate(size_t count) {
    const size_t bytes = Rounded(count);
    void* p = ::operator new(bytes, Alignment(bytes));
    // A wish: where the system can't, pages are small ones.
    if (bytes >= kHugePage) (void)madvise(p, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(p);
  }
  void deallocate(T* p, size_t count) { ::operator delete(p, Alignment(Rounded(count))); }
  // Elements are left as they come: whoever asks for memory writes it first.
  template <class Other>
  void construct(Other* p) {
    ::new (static_cast<void*>(p)) Other;
  }
  bool operator==(const AlignedAllocator&) const { return true; }

 private:
  // To whole huge pages from the size of one on: a page belongs to one piece.
  static size_t Rounded(size_t count) {
    const size_t bytes = count * sizeof(T);
    return bytes < kHugePage ? bytes : RoundUp(bytes, kHugePage);
  }
  static std::align_val_t Alignment(size_t bytes) {
    return std::align_val_t{bytes < kHugePage ? kCacheLine : kHugePage};
  }
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace attend

#endif  // ATTEND_ENGINE_BLOCKS_ALIGNED_H_
