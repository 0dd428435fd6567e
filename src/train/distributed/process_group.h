// The processes that train one model together (ranks), what they add up and tell each other, and
// how one learns that another has died. Operations are c10d's: NCCL's for tensors on GPUs, Gloo's
// for those in memory.
//
// Every rank makes the same calls in the same order, with tensors of equal sizes; sums have the
// same bits on all ranks and every time. Not thread-safe, but for the order above: callers hold a
// lock where several threads begin operations.
//
// A rank that dies or fails is named on all others: their present or next operation throws
// Error(kRuntime). A rank that is silent for half a minute counts as dead. A rank that reaches no
// operation within seconds after that is ended by `abandon`.
#ifndef ATTEND_TRAIN_DISTRIBUTED_PROCESS_GROUP_H_
#define ATTEND_TRAIN_DISTRIBUTED_PROCESS_GROUP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attend/nn/torch.h"
#include "base/log.h"
#include "train/distributed/world.h"

namespace attend {

class ProcessGroup {
 public:
  // How this process ends where it can't by itself; called on threads of the group's, unless it
  // says otherwise.
  struct Ends {
    // Gets what to tell the user.
    std::function<void(const std::string& why)> abandon;
    // From the time that others wait for this rank until EndSetUp stops are held (on the thread
    // that makes the group): once one is requested, the others are told, and the process ends as
    // `hold_stop` lets go.
    std::function<bool()> stop_requested = [] { return false; };
    std::function<void(bool held)> hold_stop = [](bool) {};
  };

  // Alone: operations leave things as they are.
  ProcessGroup();
  // Joins the meeting place; waits minutes for rank 0 to open it, as `log` says. From then on
  // nobody waits in vain for this rank: Fail reaches the others, and so does its death. Throws
  // Error(kRuntime).
  ProcessGroup(const World& world, Ends ends, const Log& log);
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  // Waits for the other ranks, for minutes until the first is there and then for one at most until
  // the next is. Throws Error(kRuntime) naming those that did not come, and Error(kConfiguration)
  // where two ranks are given the same number or other sizes of the world. `world` knows its local
  // numbers then.
  void Meet(const Log& log);
  // Before the first operation, after Meet.
  void Connect(const torch::Device& device);

  const World& world() const { return world_; }
  int64_t rank() const { return world_.rank; }
  int64_t size() const { return world_.size; }
  bool alone() const { return size() == 1; }
  bool first() const { return rank() == 0; }

  // Waits for the end of an operation that has begun; is called once.
  using Pending = std::function<void()>;
  // The tensor's sum over ranks, in place.
  Pending BeginSum(const torch::Tensor& tensor);
  // Rank `from`'s tensor, in place.
  Pending BeginBroadcast(const torch::Tensor& tensor, int64_t from);
  // A tensor from one rank to another, which make one of these calls each.
  Pending BeginSend(const torch::Tensor& tensor, int64_t to);
  Pending BeginReceive(const torch::Tensor& tensor, int64_t from);

  // The bytes of every rank, by rank, on all of them; of any length, which ranks wait for here. The
  // function waits for the bytes; it is called at most once, on any thread, before Leave. Does not
  // touch a GPU.
  using Gathered = std::function<std::vector<std::string>()>;
  Gathered BeginGather(const std::string& own);

  double Sum(double value);
  // What rank 0 gives; `text` is ignored on other ranks.
  std::string FromFirst(const std::string& text);

  // The caller asks for stops itself from now on.
  void EndSetUp();
  // Waits until all ranks have come this far; no operation follows.
  void Leave();
  // Tells the others why this rank can't go on, the first time. No operation follows; never throws.
  // The process is to end within seconds then: where telling hangs it is abandoned.
  void Fail(const std::string& why);

 private:
  struct Impl;
  World world_;
  std::unique_ptr<Impl> impl_;  // null where alone
};

}  // namespace attend

#endif  // ATTEND_TRAIN_DISTRIBUTED_PROCESS_GROUP_H_
