// What a search needs of a model: the next tokens of hypotheses, one step at a time.
#ifndef ATTEND_ENGINE_SEARCH_STEPPER_H_
#define ATTEND_ENGINE_SEARCH_STEPPER_H_

#include <cstdint>
#include <span>
#include <vector>

namespace attend {

// A live hypothesis and its last token (bos at first).
struct StepRow {
  int32_t slot = 0;
  int32_t token = 0;
  int32_t forced = -1;  // the only next token wanted; -1: the best ones
  bool may_end = true;  // false: eos is not among the best
};

struct Candidate {
  int32_t id = -1;             // -1: there is no further one
  double log_probability = 0;  // natural, at most 0
};

// Hypotheses live in slots: sentence s has slots s * beam_size to (s + 1) * beam_size - 1. One
// owner; not thread-safe.
class Stepper {
 public:
  virtual ~Stepper() = default;
  // Forgets all and begins with these inputs.
  virtual void Start(std::span<const std::vector<int32_t>> sources, int64_t beam_size) = 0;
  // Feeds each row's token and writes its next tokens into best[row * k ...], the likelier first,
  // equal ones by rising id; one alone for a forced row.
  virtual void Step(std::span<const StepRow> rows, int64_t k, Candidate* best) = 0;
  // Slot first + i goes on as what slot first + parents[i] was.
  virtual void Reorder(int64_t first, std::span<const int32_t> parents) = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_SEARCH_STEPPER_H_
