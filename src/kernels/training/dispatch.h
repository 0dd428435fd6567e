// Chooses training's kernels at run time.
#ifndef ATTEND_KERNELS_TRAINING_DISPATCH_H_
#define ATTEND_KERNELS_TRAINING_DISPATCH_H_

#include "kernels/training/train_kernels.h"

namespace attend::nn {

// For float the set that the engine's kernels use (ATTEND_ISA included); for double plain C++.
template <class Real>
const TrainKernels<Real>& SelectTrainKernels();
template <>
const TrainKernels<float>& SelectTrainKernels<float>();
template <>
const TrainKernels<double>& SelectTrainKernels<double>();

}  // namespace attend::nn

#endif  // ATTEND_KERNELS_TRAINING_DISPATCH_H_
