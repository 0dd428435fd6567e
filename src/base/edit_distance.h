// "Did you mean": the known name nearest to a mistyped one.
#ifndef ATTEND_BASE_EDIT_DISTANCE_H_
#define ATTEND_BASE_EDIT_DISTANCE_H_

#include <string>
#include <string_view>
#include <vector>

namespace attend {

// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment) that turn
// `a` into `b`.
int EditDistance(std::string_view a, std::string_view b);

// The candidate nearest to `name`, or "" where none is near enough to be meant: a third of its
// letters away at most, or one. A name of more than 200 bytes has none.
std::string NearestName(std::string_view name, const std::vector<std::string>& candidates);

// "; did you mean 'x'?" or "". A member's name means the candidates that end in it: for "layers",
// 'encoder.layers' or 'decoder.layers', unless there are more than three.
std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace attend

#endif  // ATTEND_BASE_EDIT_DISTANCE_H_
