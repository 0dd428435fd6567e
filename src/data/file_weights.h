// Weights of files: how often an epoch uses each of their examples.
#ifndef ATTEND_DATA_FILE_WEIGHTS_H_
#define ATTEND_DATA_FILE_WEIGHTS_H_

#include <cstdint>

#include "base/random.h"

namespace attend {

// How often an epoch goes through a file, each time over a part of it where the weight is no whole
// number: the weight, rounded up.
int64_t TimesOf(double weight);

// Whether the epoch's pass `time` (from 0) takes an example: of `weight` passes an epoch, all
// epochs together take each example as evenly as whole numbers allow. Where not all of an epoch's
// passes take it, the one that does not is drawn, so that all have as many examples. The key of
// `random` names the example.
bool TakesExample(double weight, Random random, int64_t epoch, int64_t time);

}  // namespace attend

#endif  // ATTEND_DATA_FILE_WEIGHTS_H_
