// How the weights of a model run, and where the time of running them goes. Plain values.
#ifndef ATTEND_RUNNING_H_
#define ATTEND_RUNNING_H_

namespace attend {

// The numbers that weights run as: int8 makes a model a quarter of the size and faster.
enum class WeightType { kStored, kF32, kInt8 };

// Where time went, in seconds of all threads together.
struct WorkSeconds {
  double encoder = 0;
  double self_attention = 0, cross_attention = 0, feed_forward = 0;  // of the decoder
  double output = 0;                                                 // the output layer
  double search = 0;
  double rest = 0;
};

}  // namespace attend

#endif  // ATTEND_RUNNING_H_
