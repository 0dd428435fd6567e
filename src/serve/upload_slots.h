// How many large bodies are read at once, by all clients and by one of them.
#ifndef ATTEND_SERVE_UPLOAD_SLOTS_H_
#define ATTEND_SERVE_UPLOAD_SLOTS_H_

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace attend {

// Safe to use from many threads. It must outlive its slots.
class UploadSlots {
 public:
  UploadSlots(int most, int most_of_one) : most_(most), most_of_one_(most_of_one) {}
  UploadSlots(const UploadSlots&) = delete;
  UploadSlots& operator=(const UploadSlots&) = delete;

  // Taken until the result goes; null where none is free for the client.
  std::shared_ptr<void> Take(const std::string& client);
  // By the time of Take it may be gone.
  bool HaveRoom(const std::string& client) const;

 private:
  bool Free(const std::string& client) const;  // mutex_ is locked
  void Release(const std::string& client);

  const int most_, most_of_one_;
  mutable std::mutex mutex_;
  int taken_ = 0;
  std::unordered_map<std::string, int> of_clients_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_UPLOAD_SLOTS_H_
