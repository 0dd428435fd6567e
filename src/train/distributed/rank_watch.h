// How a rank learns that another has died, failed or was stopped. Every rank reports to a store
// each second that it is alive (a beat). The first rank to miss a beat of another one, or to end
// early itself, records a verdict in the store. All ranks then end with that verdict.
#ifndef ATTEND_TRAIN_DISTRIBUTED_RANK_WATCH_H_
#define ATTEND_TRAIN_DISTRIBUTED_RANK_WATCH_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "train/distributed/process_group.h"
#include "train/distributed/world.h"

namespace attend {

using StorePtr = c10::intrusive_ptr<c10d::Store>;

// Between two looks at what others put into a store.
inline constexpr std::chrono::milliseconds kGlance{50};

std::string HostName();

// Watches from its making on. Thread-safe.
class RankWatch {
 public:
  // `store` is used by no other caller: one that waits for an answer locks it meanwhile. Silence is
  // counted in beats; tests have shorter ones.
  RankWatch(StorePtr store, const World& world, ProcessGroup::Ends ends,
            std::chrono::milliseconds beat = std::chrono::seconds(1));
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

  // Why the run can't go on; empty while it can.
  std::string verdict();
  // The verdict after something failed that a rank's death may explain; waits seconds for it, empty
  // where none comes.
  std::string AwaitVerdict();
  // The verdict after a connection broke, as `how` says.
  std::string VerdictAfter(const std::string& how);
  // The caller ends by itself, for this reason: soon, or else it is stuck, and abandoned. False
  // where it has said so before.
  bool Ending(const std::string& why);
  // The caller asks for stops itself.
  void EndSetUp();
  // Leaves the verdict, unless there is one; where the store ends with this process, not before the
  // others have heard it, within seconds. Throws what c10d throws where the store is gone.
  void Tell(const std::string& why);

 private:
  // The first beat, so that from the making on a death is noticed.
  void Announce();
  void Beat();
  // Counts this rank among those that know the verdict, once.
  void Hear();
  bool StopIsDue();
  // Notes that the store answered; returns for how many beats a rank may be silent.
  int Answered();
  void Convict(int64_t rank, int beats);
  std::string StoreIsGone(const std::string& how) const;
  void Conclude(const std::string& why);
  // Waits a beat; true where the watch is over.
  bool Pause();
  // Needs no network, and so sees that the beats are stuck in it, or that the caller is.
  void Guard();

  const StorePtr store_;
  const World world_;
  const ProcessGroup::Ends ends_;
  const std::chrono::milliseconds beat_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string verdict_;
  int patience_;          // beats
  int store_silent_ = 0;  // beats
  std::string ending_;    // why the caller ends
  bool told_ = false;     // a verdict stands
  bool setting_up_ = true, stopping_ = false;
  std::once_flag heard_;
  std::thread beats_, guard_;
};

}  // namespace attend

#endif  // ATTEND_TRAIN_DISTRIBUTED_RANK_WATCH_H_
