// Processes that go through the same windows together, each of which cuts its stretch of a window's
// lines into examples for all of them.
#ifndef ATTEND_DATA_PEERS_H_
#define ATTEND_DATA_PEERS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/example_source.h"

namespace attend {

// The default is a process alone.
struct Peers {
  // Waits for the bytes of every peer, by rank; on any thread, once.
  using Gathered = std::function<std::vector<std::string>()>;

  int64_t rank = 0, size = 1;
  // Begins to bring this peer's bytes to all. All peers make the same calls in the same order.
  std::function<Gathered(const std::string& own)> begin_gather;
};

// A window, or a part of one, for a peer that runs the same program.
std::string BytesOf(const Window& window);
// The window whose parts these are, in their order.
Window JoinParts(const std::vector<std::string>& parts);

}  // namespace attend

#endif  // ATTEND_DATA_PEERS_H_
