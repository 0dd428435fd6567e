// Where label smoothing puts its mass. Plain C++: options name it too.
#ifndef ATTEND_NN_SMOOTHING_MASS_H_
#define ATTEND_NN_SMOOTHING_MASS_H_

namespace attend::nn {

enum class SmoothingMass {
  kAllClasses,    // evenly over all V classes: cross-entropy to a mixture with the uniform
                  // distribution (the paper's)
  kWrongClasses,  // evenly over the V-1 wrong ones
};

}  // namespace attend::nn

#endif  // ATTEND_NN_SMOOTHING_MASS_H_
