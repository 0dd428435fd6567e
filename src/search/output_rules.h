// Rules that an output of a search follows from its first token on: what may come next.
#ifndef ATTEND_SEARCH_OUTPUT_RULES_H_
#define ATTEND_SEARCH_OUTPUT_RULES_H_

#include <cstdint>
#include <memory>
#include <span>

namespace attend {

// An automaton that one search follows. Its states are numbers, of which 0 is the one before the
// first token; it makes them as the search meets them. One owner.
class OutputGuide {
 public:
  virtual ~OutputGuide() = default;
  // The state after another token, which the rules allow.
  virtual int32_t Next(int32_t state, int32_t token) = 0;
  // Tokens that may not come next; they stay where they are while the guide lives.
  virtual std::span<const int32_t> Never(int32_t state) const = 0;
  virtual bool MayEnd(int32_t state) const = 0;
  // StepRow::source_row of the token that led here.
  virtual int32_t SourceRow(int32_t state) const = 0;
};

// Immutable; safe to use from many threads.
class OutputRules {
 public:
  virtual ~OutputRules() = default;
  virtual std::unique_ptr<OutputGuide> Begin() const = 0;
};

}  // namespace attend

#endif  // ATTEND_SEARCH_OUTPUT_RULES_H_
