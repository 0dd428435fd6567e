// Processes that go through the same windows together, each of which reads its stretch of a
// window's lines and cuts them into examples for all of them.
#ifndef ATTEND_DATA_PEERS_H_
#define ATTEND_DATA_PEERS_H_

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "data/example_source.h"

namespace attend {

// The default is a process alone.
struct Peers {
  // Waits for the bytes of every peer, by rank; on any thread, at most once. Throws where one is
  // lost.
  using Gathered = std::function<std::vector<std::string>()>;

  int64_t rank = 0, size = 1;
  // Begins to bring this peer's bytes to all, once every peer has come here. All peers make the
  // same calls in the same order; one that throws is to leave the others at once.
  std::function<Gathered(const std::string& own)> begin_gather;
};

// What a peer gives the others of a window: its part, or why it has none. Only the same program on
// the same kind of machine reads it.
std::string BytesOf(const Window& part);
std::string BytesOf(const std::exception_ptr& failure);
// The window whose parts these are, by rank. Throws what the first peer that failed did, with its
// rank, and Error for bytes that no such program gave.
Window JoinParts(const std::vector<std::string>& parts);

}  // namespace attend

#endif  // ATTEND_DATA_PEERS_H_
