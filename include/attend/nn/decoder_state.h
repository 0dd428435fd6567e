// What a model keeps of hypotheses while they are searched, one step after another.
#ifndef ATTEND_NN_DECODER_STATE_H_
#define ATTEND_NN_DECODER_STATE_H_

#include <cstdint>
#include <vector>

#include "attend/nn/torch.h"

namespace attend::nn {

// A row for each hypothesis. Plain values; the model that made it says what its tensors are.
// Padding is zeros, on the right.
struct DecoderState {
  std::vector<torch::Tensor> source_RS;  // [R, S, ...]: of the source
  std::vector<torch::Tensor> past_RT;    // [R, T, ...]: of each token read
  std::vector<torch::Tensor> last_R;     // [R, ...]: of the tokens read, all together
  std::vector<int64_t> source_lengths;   // of each row, of S
  std::vector<int64_t> lengths;          // of each row: tokens read

  int64_t rows() const { return static_cast<int64_t>(lengths.size()); }
  // The rows with these numbers, in this order; a row may be there more than once or not at all.
  DecoderState Rows(const std::vector<int64_t>& rows) const;
  // Adds the rows of another state of the same model.
  void Append(const DecoderState& other);
  // Makes room in past_RT for one more token of each row, as long as the longest needs.
  void Grow();
};

// A row for each sentence, which has read nothing, without tensors.
DecoderState StateOfSources(const torch::Tensor& offsets_B1);

// [B, longest, ...] of rows [R, ...] that stand sentence by sentence, as offsets_B1 says.
torch::Tensor PadSentences(const torch::Tensor& rows_RD, const torch::Tensor& offsets_B1);

// Hides what is past each row's length: additive, [R, 1, 1, size]; undefined where nothing is.
torch::Tensor LengthMask(const std::vector<int64_t>& lengths, int64_t size,
                         const torch::TensorOptions& options);

}  // namespace attend::nn

#endif  // ATTEND_NN_DECODER_STATE_H_
