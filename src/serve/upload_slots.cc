#include "serve/upload_slots.h"

namespace attend {

bool UploadSlots::Free(const std::string& client) const {
  const auto found = of_clients_.find(client);
  return taken_ < most_ && (found == of_clients_.end() || found->second < most_of_one_);
}

bool UploadSlots::HaveRoom(const std::string& client) const {
  const std::lock_guard lock(mutex_);
  return Free(client);
}

std::shared_ptr<void> UploadSlots::Take(const std::string& client) {
  const std::lock_guard lock(mutex_);
  if (!Free(client)) return nullptr;
  ++of_clients_[client];
  ++taken_;
  return {this, [this, client](void*) { Release(client); }};
}

void UploadSlots::Release(const std::string& client) {
  const std::lock_guard lock(mutex_);
  --taken_;
  const auto found = of_clients_.find(client);
  if (--found->second == 0) of_clients_.erase(found);
}

}  // namespace attend
