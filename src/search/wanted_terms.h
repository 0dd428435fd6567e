// Terms that an output of a search must hold: what it lacks, and which tokens lead there.
#ifndef ATTEND_SEARCH_WANTED_TERMS_H_
#define ATTEND_SEARCH_WANTED_TERMS_H_

#include <cstdint>
#include <memory>
#include <span>

namespace attend {

// An automaton that one search follows. Its states are numbers, of which 0 is the one before the
// first token; it makes them as the search meets them. One owner.
class TermGuide {
 public:
  virtual ~TermGuide() = default;
  // The state after another token.
  virtual int32_t Next(int32_t state, int32_t token) = 0;
  // Tokens that begin or go on with a term that is missing, rising, each once. They stay where they
  // are until Next. Wherever TokensLeft is above 0, one of them makes it less.
  virtual std::span<const int32_t> Wanted(int32_t state) const = 0;
  // The fewest tokens with which the output would have all terms, in ways that any output may take;
  // that one which is there as yet might go on as another word costs nothing.
  virtual int64_t TokensLeft(int32_t state) const = 0;
  // Terms that the output lacks if it ends here.
  virtual int64_t Missing(int32_t state) const = 0;
};

// Immutable; safe to use from many threads.
class WantedTerms {
 public:
  virtual ~WantedTerms() = default;
  virtual std::unique_ptr<TermGuide> Begin() const = 0;
  // TermGuide::TokensLeft before the first token.
  virtual int64_t TokensLeft() const = 0;
  // All tokens that Wanted may name, rising, each once.
  virtual std::span<const int32_t> Tokens() const = 0;
};

}  // namespace attend

#endif  // ATTEND_SEARCH_WANTED_TERMS_H_
