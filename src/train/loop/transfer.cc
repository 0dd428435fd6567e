#include "train/loop/transfer.h"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace attend {
namespace {

c10::Stream PresentStream(const torch::Device& device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

}  // namespace

Uploader::Uploader(const torch::Device& device) : device_(device) {
  if (device.is_cpu()) return;
  const c10::impl::VirtualGuardImpl guard(device.type());
  stream_ = guard.getStreamFromGlobalPool(guard.getStream(device).device());
}

std::vector<torch::Tensor> Uploader::Upload(const std::vector<torch::Tensor>& host) {
  if (!stream_) return host;
  const c10::Stream computing = PresentStream(stream_->device());
  std::vector<torch::Tensor> there;
  c10::Event arrived(device_.type());
  {
    const c10::StreamGuard guard(*stream_);
    for (const torch::Tensor& tensor : host)
      there.push_back(tensor.pin_memory().to(stream_->device(), /*non_blocking=*/true));
    arrived.record(*stream_);
  }
  arrived.block(computing);
  // Their memory is not to be used again before what is computed with them is.
  for (const torch::Tensor& tensor : there) tensor.record_stream(computing);
  return there;
}

Download::Download(const torch::Tensor& tensor) : host_(tensor) {
  if (tensor.is_cpu()) return;
  host_ = torch::empty(tensor.sizes(), tensor.options().device(torch::kCPU).pinned_memory(true));
  host_.copy_(tensor, /*non_blocking=*/true);
  arrived_ = std::make_shared<c10::Event>(tensor.device().type());
  arrived_->record(PresentStream(tensor.device()));
}

const torch::Tensor& Download::Wait() const {
  if (arrived_) arrived_->synchronize();
  return host_;
}

}  // namespace attend
