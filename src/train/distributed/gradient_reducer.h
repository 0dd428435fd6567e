// Adds up gradients over threads and then over ranks, in buckets: consecutive parameters, the last
// ones first, as the backward pass comes to them. A bucket is on its way as soon as every thread
// has its gradients, while the pass goes on with the rest.
//
// Buckets start in one order, and within them parts are added in theirs: the sums' bits depend on
// nothing else.
#ifndef ATTEND_TRAIN_DISTRIBUTED_GRADIENT_REDUCER_H_
#define ATTEND_TRAIN_DISTRIBUTED_GRADIENT_REDUCER_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "attend/nn/torch.h"
#include "train/distributed/process_group.h"
#include "train/loop/parameters.h"

namespace attend {

// Thread-safe, but for one thread per part.
class GradientReducer {
 public:
  static constexpr int64_t kBucketElements = int64_t{1} << 20;  // at least, where there are so many

  // `parts` are the threads' flat gradients, of which the first gets the sums. `group` must outlive
  // the reducer.
  GradientReducer(const FlatLayout& layout, std::vector<torch::Tensor> parts, ProcessGroup* group,
                  int64_t bucket_elements = kBucketElements);

  // Before the backward pass of an update.
  void Begin();
  // The part's gradient of the parameter is complete.
  void Ready(int64_t part, int64_t parameter);
  // Those of all other parameters are, too.
  void AllReady(int64_t part);
  // Returns when the sums that have begun are there: all of them after AllReady of each part.
  void Wait();

 private:
  struct Bucket {
    int64_t begin = 0, end = 0;  // elements
    int64_t gradients = 0;       // that a part adds to it
    int64_t missing = 0;         // of all parts
  };
  void Start(const Bucket& bucket);

  std::vector<torch::Tensor> parts_;
  ProcessGroup* group_;
  std::vector<Bucket> buckets_;
  std::vector<int64_t> bucket_of_;        // by parameter
  std::vector<std::vector<bool>> ready_;  // by part and parameter
  std::mutex mutex_;                      // of what follows, and of `missing`
  size_t started_ = 0;                    // buckets
  std::vector<ProcessGroup::Pending> pending_;
};

}  // namespace attend

#endif  // ATTEND_TRAIN_DISTRIBUTED_GRADIENT_REDUCER_H_
