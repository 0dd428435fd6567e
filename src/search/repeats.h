// What an output has already: n-grams that it must not have twice (Paulus et al. 2018, section
// 2.5), and tokens that cost something again.
#ifndef ATTEND_SEARCH_REPEATS_H_
#define ATTEND_SEARCH_REPEATS_H_

#include <cstdint>
#include <span>
#include <vector>

namespace attend {

// Adds the tokens that would end an n-gram which the output `ids` has already. Precondition: n is
// at least 1.
void AddRepeats(std::span<const int32_t> ids, int64_t n, std::vector<int32_t>* never);

// Moves tokens, each once, to those that are wanted in any case: they join `never`, and where they
// were not there also `also`.
void AskFor(std::vector<int32_t> ids, std::vector<int32_t>* never, std::vector<int32_t>* also);

}  // namespace attend

#endif  // ATTEND_SEARCH_REPEATS_H_
