// The memory of tensors.
#ifndef ATTEND_NN_MEASURE_TENSOR_BYTES_H_
#define ATTEND_NN_MEASURE_TENSOR_BYTES_H_

#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "attend/nn/torch.h"

namespace attend::nn {

// Bytes of a thread's CPU tensors since it was made, while a c10::DebugInfoGuard has it as that
// thread's c10::DebugInfoKind::PROFILER_STATE.
class TensorBytes : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, int64_t bytes, size_t, size_t, c10::Device) override {
    now_ += bytes;
    most_ = std::max(most_, now_);
  }
  bool memoryProfilingEnabled() const override { return true; }
  int64_t now() const { return now_; }
  int64_t most() const { return most_; }

 private:
  int64_t now_ = 0, most_ = 0;
};

}  // namespace attend::nn

#endif  // ATTEND_NN_MEASURE_TENSOR_BYTES_H_
