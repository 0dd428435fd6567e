// Whether a space belongs between translated text and what HTML keeps as it is (code, an image).
#ifndef ATTEND_HTML_SPACES_H_
#define ATTEND_HTML_SPACES_H_

#include <string_view>

namespace attend {

// The kept content follows `text`. `spaced`: a space stood there in the source; it decides beside a
// dash, a slash and the like. Letters and closing punctuation need a space. White space, opening
// punctuation and scripts without spaces (Chinese, Japanese, Thai ...) do not.
bool NeedsSpaceAfter(std::string_view text, bool spaced);
// `text` follows the kept content. Before closing punctuation only `spaced` gives a space.
bool NeedsSpaceBefore(std::string_view text, bool spaced);
// Both are kept.
bool NeedsSpaceBetween(std::string_view before, std::string_view after);

// Whether kept content that touched `source` may touch `target`: the same mark, or where the target
// is the source's translation, two letters or digits. Both texts end (begin) there.
bool TouchesAlikeAtEnd(std::string_view source, std::string_view target, bool translation);
bool TouchesAlikeAtStart(std::string_view source, std::string_view target, bool translation);

}  // namespace attend

#endif  // ATTEND_HTML_SPACES_H_
