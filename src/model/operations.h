// How many operations the products of a model take, from its configuration alone. A multiplication
// with its addition counts as two operations; what is no product (norms, softmax, activations,
// biases, looked-up embeddings) is not counted, as in PyTorch's counter.
#ifndef ATTEND_MODEL_OPERATIONS_H_
#define ATTEND_MODEL_OPERATIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "attend/model_config.h"

namespace attend {

// Tokens of one text, each an id that a stack reads: eos or bos counted.
struct TextLengths {
  int64_t source = 0;   // that the encoder reads; of a joint encoder, that the text's does
  int64_t target = 0;   // that the decoder reads
  int64_t outputs = 0;  // rows that the head reads
};

// Of a whole text: the head reads what the last stack has read, or one row where it labels texts.
TextLengths LengthsOf(const ModelConfig& config, int64_t source, int64_t target);

// Whole numbers, exact up to 2^53.
struct OperationPart {
  std::string name;  // "encoder.feed_forward", "decoder.self_attention.scores"
  double forward = 0;
  bool has_weights = true;  // false: a product of activations, which attention alone has
};

// In the order of the computation. Each product of a backward pass takes twice what it took
// forward: a gradient of its input and one of its weights. A mask does not make a product smaller:
// the scores of a decoder are counted over all keys, unless attention is restricted to a window.
std::vector<OperationPart> CountOperations(const ModelConfig& config, const TextLengths& lengths);
inline constexpr double kForwardAndBackward = 3;

}  // namespace attend

#endif  // ATTEND_MODEL_OPERATIONS_H_
