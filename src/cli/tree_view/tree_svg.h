// Constituency trees as a picture.
#ifndef ATTEND_CLI_TREE_VIEW_TREE_SVG_H_
#define ATTEND_CLI_TREE_VIEW_TREE_SVG_H_

#include <span>
#include <string>

#include "attend/tagger.h"

namespace attend {

// One SVG document, the trees one below the other: words in a row with their tags above them,
// constituents above these. Those without words are left out.
std::string TreesToSvg(std::span<const ParsedText> trees);

}  // namespace attend

#endif  // ATTEND_CLI_TREE_VIEW_TREE_SVG_H_
