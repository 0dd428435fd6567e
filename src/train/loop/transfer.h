// Copies between the CPU and a device that nobody waits for. On the CPU they are the tensors
// themselves.
#ifndef ATTEND_TRAIN_LOOP_TRANSFER_H_
#define ATTEND_TRAIN_LOOP_TRANSFER_H_

#include <c10/core/Event.h>

#include <memory>
#include <optional>
#include <vector>

#include "attend/nn/torch.h"

namespace attend {

// Brings tensors to a device while it computes: from pinned memory, on a stream of their own. One
// caller at a time.
class Uploader {
 public:
  explicit Uploader(const torch::Device& device);
  // The tensors on the device; what is computed with them after this call waits for them there.
  std::vector<torch::Tensor> Upload(const std::vector<torch::Tensor>& host);

 private:
  torch::Device device_;
  std::optional<c10::Stream> stream_;  // on a GPU
};

// A tensor's values on their way to the CPU.
class Download {
 public:
  explicit Download(const torch::Tensor& tensor);
  // Waits until they are there, and for nothing that the device was given after them.
  const torch::Tensor& Wait() const;

 private:
  torch::Tensor host_;
  std::shared_ptr<c10::Event> arrived_;  // on a GPU
};

}  // namespace attend

#endif  // ATTEND_TRAIN_LOOP_TRANSFER_H_
