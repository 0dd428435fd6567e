// What an update does to the weights: gradients of a global batch, their norm, clipping, Adam and
// the moving average, by threads and by processes.
//
// Each thread of each rank takes its shards of the batches through the model, forward and backward,
// with gradients of its own, which are then added in the order of the shards, and over the ranks.
// With the same number of threads and ranks the bits are the same every time; with another number
// they differ by the rounding of sums.
#ifndef ATTEND_TRAIN_LOOP_LEARNER_H_
#define ATTEND_TRAIN_LOOP_LEARNER_H_

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attend/nn/torch.h"
#include "base/thread_pool.h"
#include "data/shard.h"
#include "train/distributed/gradient_reducer.h"
#include "train/distributed/process_group.h"
#include "train/loop/adam.h"
#include "train/loop/parameters.h"
#include "train/loop/rank_work.h"
#include "train/loop/task.h"
#include "train/loop/transfer.h"
#include "train/train_options.h"

namespace attend {

// How updates are computed.
struct UpdateMode {
  int threads = 1;        // that share each, on a CPU
  bool deferred = false;  // the device decides about clipping and skipping, as a GPU must; see
                          // Learner::Backward
  int64_t bucket_elements = GradientReducer::kBucketElements;  // that ranks add up at once
  std::function<double()> now = [] { return 0.0; };            // seconds, for RankWork
};

// Of one update; not finite where something went wrong.
struct LossAndNorm {
  double loss = 0;            // a target's
  double norm = 0;            // of the gradient
  std::string bad_parameter;  // the first whose gradient is not finite, or ""

  bool finite() const { return std::isfinite(loss) && std::isfinite(norm); }
};

// What a backward pass found, on its device and on the way to the CPU: the loss, the norm and,
// where updates are deferred, the norm of each parameter's gradient; f64.
struct UpdateOutcome {
  explicit UpdateOutcome(torch::Tensor numbers_on_device)
      : numbers(std::move(numbers_on_device)), arriving(numbers) {}
  torch::Tensor numbers;
  Download arriving;
};

// Owns the weights that the task's module is a view of. One caller; all ranks of a group call
// everything together. LibTorch's own threads should be off (SetUpTorch(1)).
class Learner {
 public:
  // What a checkpoint keeps: flat buffers of all that is learnt.
  enum class Buffer { kWeights, kFirstMoment, kSecondMoment, kAverage };

  // `task` must outlive the learner. Parameters that need no gradient when it is made stay as they
  // are, and are in no buffer.
  Learner(TrainingTask* task, const OptimizationOptions& options, const UpdateMode& mode,
          std::shared_ptr<ProcessGroup> group = std::make_shared<ProcessGroup>());
  ~Learner();
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  // Puts the gradient of the batch's mean loss into parameters().gradients(). Every rank gives the
  // whole batch and computes its share. Random choices follow from `seed` and the places in the
  // batch. Throws what a thread threw. In deferred mode neither this nor Apply waits for a GPU, so
  // that it has the next update before it is through with this one.
  UpdateOutcome Backward(const GlobalBatch& batch, uint64_t seed);
  // Clips the gradient, takes Adam's step (steps count from 1) and moves the average; does nothing
  // unless loss and norm are finite.
  void Apply(const UpdateOutcome& outcome, double learning_rate, int64_t step);
  // Waits for them. `bad_parameter` is right until the next backward pass, in deferred mode always.
  LossAndNorm Read(const UpdateOutcome& outcome) const;
  // What this rank of several did since the last call, but for the data's time; one alone counts
  // nothing. Waits for its losses.
  RankWork TakeWork();

  Parameters& parameters() { return parameters_; }
  // Of Adam's moments and the average, on this rank.
  int64_t optimizer_bytes() const;
  const UpdateMode& mode() const { return mode_; }

  // On rank 0 the whole buffer, on the CPU; what the learner holds whole is not copied. Undefined
  // on other ranks, and an average without ema_decay.
  torch::Tensor Whole(Buffer buffer);
  // Sets the buffer of every rank to what rank 0 reads into `whole`; an average only with
  // ema_decay.
  void Load(Buffer buffer, const std::function<void(torch::Tensor* whole)>& read);

 private:
  // The share of all flat buffers that a rank updates.
  struct Share {
    int64_t begin = 0, size = 0;  // elements
  };
  // A thread's gradients, and how far its backward pass is.
  struct Part {
    torch::Tensor gradients;
    bool open = false;  // a pass is under way
    bool last = false;  // it is the update's last
  };
  Share ShareOf(int64_t rank) const;
  static torch::Tensor Cut(const torch::Tensor& flat, const Share& share);
  torch::Tensor& TensorOf(Buffer buffer);
  // A rank has its share of this buffer and no more.
  bool IsCut(Buffer buffer) const;

  // The part's loss, f64.
  torch::Tensor BackwardPart(int64_t part, const std::vector<Shard>& shards, uint64_t seed,
                             double targets);
  void Take(int64_t parameter, const torch::Tensor& gradient);
  // Returns norms as UpdateOutcome has them.
  torch::Tensor AddUpGradients();
  // Gives each rank the weights that the others updated.
  void SpreadWeights();
  // Calls body(slice) for the parts that cover flat buffers of `size` elements; a slice is a
  // function that takes its part of a buffer.
  using Slice = std::function<torch::Tensor(const torch::Tensor& flat)>;
  void ForEachSlice(int64_t size,
                    const std::function<void(int64_t index, const Slice& slice)>& body);
  int64_t SlicesOf(int64_t size) const;

  TrainingTask* task_;
  OptimizationOptions options_;
  UpdateMode mode_;
  std::shared_ptr<ProcessGroup> group_;
  ThreadPool pool_;
  Parameters parameters_;
  Share share_;
  AdamState adam_;                          // of the share
  torch::Tensor average_;                   // of the share
  std::vector<torch::Tensor> gradients_;    // by parameter, views of parameters_'s
  std::vector<Part> parts_;                 // by thread; the first's gradients are parameters_'s
  std::vector<unsigned> hooks_;             // of the parameters
  std::optional<GradientReducer> reducer_;  // unless alone
  RankWork work_;                           // but for the losses
  torch::Tensor own_losses_;                // summed over targets, f64
};

}  // namespace attend

#endif  // ATTEND_TRAIN_LOOP_LEARNER_H_
