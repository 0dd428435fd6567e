// Dropout by a counter-based generator (Philox4x32-10; Salmon, Moraes, Dror and Shaw, "Parallel
// random numbers: as easy as 1, 2, 3", 2011): whether an element is kept follows from a seed, the
// place in the model, the element's row in the whole batch and its column, however the batch is cut
// and whoever computes it; on CPUs. On a GPU, LibTorch's own generator gives the numbers.
#ifndef ATTEND_NN_DROPOUT_H_
#define ATTEND_NN_DROPOUT_H_

#include <cstdint>

namespace attend::nn {

// Share of elements that are zeroed in training, by place. The defaults are the base model's,
// section 5.4.
struct Dropout {
  double residual = 0.1;    // each sub-layer's output, before it is added
  double embedding = 0.1;   // sums of embeddings and positions
  double attention = 0;     // attention weights; not in the paper
  double feed_forward = 0;  // inside the feed-forward layer; not in the paper
};

// One use of dropout. `rate` counts in steps of 2^-16; 0 keeps everything. What is kept is divided
// by the share that is kept.
struct DropoutSite {
  double rate = 0;
  uint64_t seed = 0;
  uint32_t site = 0;      // tells the uses of one pass apart
  int64_t first_row = 0;  // what the whole batch has before this tensor's first row
};

// Gives each use of one pass over one stack its site, in the order of the calls. One owner.
class DropoutStream {
 public:
  DropoutStream(uint64_t seed, int64_t first_row, uint32_t first_site = 0)
      : seed_(seed), first_row_(first_row), next_site_(first_site) {}
  DropoutSite Next(double rate) { return {rate, seed_, next_site_++, first_row_}; }

 private:
  uint64_t seed_;
  int64_t first_row_;
  uint32_t next_site_;
};

// What a pass over a batch, or over a part of it, draws its dropout from. Plain values.
struct DropoutKey {
  uint64_t seed = 0;             // of the run, the update and the batch
  int64_t first_source_row = 0;  // tokens of the whole batch before this part's
  int64_t first_target_row = 0;
};

// The next site of `stream`; without a stream one whose seed is drawn from LibTorch's default
// generator. Outside training, a site that keeps everything.
DropoutSite NextSite(DropoutStream* stream, double rate, bool training);

}  // namespace attend::nn

#endif  // ATTEND_NN_DROPOUT_H_
