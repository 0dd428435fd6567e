// Where one pass over both stacks draws its dropout.
#ifndef ATTEND_NN_PASS_STREAMS_H_
#define ATTEND_NN_PASS_STREAMS_H_

#include <cstdint>
#include <optional>

#include "attend/error.h"
#include "attend/nn/dropout.h"
#include "attend/nn/torch.h"

namespace attend::nn {

class PassStreams {
 public:
  // `weight` tells the device. Throws Error(kUsage) for a key on another one than a CPU.
  PassStreams(const std::optional<DropoutKey>& key, const torch::Tensor& weight)
      : given_(key.has_value()),
        encoder_(key ? key->seed : 0, key ? key->first_source_row : 0),
        decoder_(key ? key->seed : 0, key ? key->first_target_row : 0, kDecoderSites) {
    if (key && !weight.is_cpu())
      throw Error(ErrorKind::kUsage, "dropout by a key is for CPUs; leave the key out on a GPU");
  }
  // Null without a key.
  DropoutStream* encoder() { return given_ ? &encoder_ : nullptr; }
  DropoutStream* decoder() { return given_ ? &decoder_ : nullptr; }

 private:
  static constexpr uint32_t kDecoderSites = 1u << 31;
  bool given_;
  DropoutStream encoder_, decoder_;
};

}  // namespace attend::nn

#endif  // ATTEND_NN_PASS_STREAMS_H_
