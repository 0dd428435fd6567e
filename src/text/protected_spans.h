// Protected spans: parts of a text that a translation copies exactly, such as numbers, URLs and
// file names.
//
// A finder has a list of built-in kinds and regular expressions of the user (RE2, which takes time
// linear in the text). Immutable once made; safe to use from many threads.
#ifndef ATTEND_TEXT_PROTECTED_SPANS_H_
#define ATTEND_TEXT_PROTECTED_SPANS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "text/text_parts.h"

namespace re2 {
class RE2;
}

namespace attend {

struct ProtectionOptions {
  // Names of kinds, "all" for each, "no-NAME" for all but one.
  std::vector<std::string> protect;
  std::vector<std::string> protect_patterns;

  bool empty() const { return protect.empty() && protect_patterns.empty(); }
  bool operator==(const ProtectionOptions&) const = default;
};
FieldList Fields(ProtectionOptions& options);

class SpanFinder {
 public:
  // Throws Error(kConfiguration) for an unknown kind, and an expression that RE2 refuses or that
  // matches the empty text.
  explicit SpanFinder(const ProtectionOptions& options);
  ~SpanFinder();

  // Rising, without overlap. Where spans overlap, the user's expression comes first, then the kinds
  // in the order of `Kinds`.
  std::vector<TextPart> Find(std::string_view text) const;

  // The names of all built-in kinds.
  static std::vector<std::string> Kinds();

 private:
  struct Rule;
  std::vector<Rule> rules_;
};

}  // namespace attend

#endif  // ATTEND_TEXT_PROTECTED_SPANS_H_
