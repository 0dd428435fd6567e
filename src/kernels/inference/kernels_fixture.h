// What tests of kernels share.
#ifndef ATTEND_KERNELS_INFERENCE_KERNELS_FIXTURE_H_
#define ATTEND_KERNELS_INFERENCE_KERNELS_FIXTURE_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/inference/dispatch.h"

namespace attend {

// Runs on every instruction set of the machine: against formulas in double precision to a
// tolerance, and against the reference to the bit.
class KernelsTest : public testing::TestWithParam<std::string> {
 protected:
  const KernelTable& kernels_ = SelectKernels(GetParam());
  const KernelTable& reference_ = *ReferenceKernels();
};

// Numbers of a normal distribution around 0.
inline std::vector<float> RandomFloats(int64_t count, Random* random, double scale = 1) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(scale * random->Normal());
  return values;
}

inline std::vector<float> RandomFloats(int64_t count, uint64_t seed, double scale = 1) {
  Random random({seed});
  return RandomFloats(count, &random, scale);
}

inline std::vector<double> Softmaxed(const std::vector<float>& x) {
  double sum = 0;
  for (const float value : x) sum += std::exp(double{value});
  std::vector<double> y;
  for (const float value : x) y.push_back(std::exp(double{value}) / sum);
  return y;
}

template <class Want>
void ExpectNear(const std::vector<float>& got, const std::vector<Want>& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], want[i], tolerance * (1 + std::abs(want[i]))) << "at " << i;
  }
}

}  // namespace attend

#endif  // ATTEND_KERNELS_INFERENCE_KERNELS_FIXTURE_H_
