// Training text in other case: some pairs in capitals on both sides, as many in title case.
#ifndef ATTEND_DATA_CASE_NOISE_H_
#define ATTEND_DATA_CASE_NOISE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "data/example_table.h"

namespace attend {

class CaseNoise {
 public:
  CaseNoise() = default;
  // `share` of all pairs in capitals, `share` in title case.
  CaseNoise(double share, uint64_t seed) : share_(share), seed_(seed) {}

  // Changes the texts of the pair at `origin` alike, as a function of the origin, `time` (which
  // tells times apart at which training reads the pair) and the seed alone.
  void Apply(const Origin& origin, uint64_t time, std::vector<std::string>* texts) const;

 private:
  double share_ = 0;
  uint64_t seed_ = 0;
};

}  // namespace attend

#endif  // ATTEND_DATA_CASE_NOISE_H_
