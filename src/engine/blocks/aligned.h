// Memory that starts on a cache line, so that no vector load spans two.
#ifndef ATTEND_ENGINE_BLOCKS_ALIGNED_H_
#define ATTEND_ENGINE_BLOCKS_ALIGNED_H_

#include <cstddef>
#include <new>
#include <vector>

namespace attend {

template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};

  AlignedAllocator() = default;
  template <class Other>
  AlignedAllocator(const AlignedAllocator<Other>&) {}
  T* allocate(size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kAlignment));
  }
  void deallocate(T* p, size_t) { ::operator delete(p, kAlignment); }
  // Elements are left as they come: whoever asks for memory writes it first.
  template <class Other>
  void construct(Other* p) {
    ::new (static_cast<void*>(p)) Other;
  }
  bool operator==(const AlignedAllocator&) const { return true; }
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace attend

#endif  // ATTEND_ENGINE_BLOCKS_ALIGNED_H_
