// Word alignments in Pharaoh's form.
#ifndef ATTEND_TEXT_ALIGNMENT_LINKS_H_
#define ATTEND_TEXT_ALIGNMENT_LINKS_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace attend {

// Pairs of source and target word, each counted from 0.
using AlignmentLinks = std::set<std::pair<int64_t, int64_t>>;

struct Alignment {
  AlignmentLinks sure;
  AlignmentLinks possible;  // and not sure
};

// Reads "0-0 1-2 2?3 2p4": links divided by white space, of which those with ? or p are possible.
// An empty line has none; what stands before the last "|||", as `attend score` and
// `attend translate` write it, is left out. Throws Error(kInput) that opens with `where` (file and
// line) for anything else.
Alignment ParseAlignment(std::string_view line, const std::string& where);

// The same for a prediction, where a possible link is an error.
Alignment ParsePrediction(std::string_view line, const std::string& where);

}  // namespace attend

#endif  // ATTEND_TEXT_ALIGNMENT_LINKS_H_
