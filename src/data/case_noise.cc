#include "data/case_noise.h"

#include "base/random.h"
#include "text/case_marks.h"
#include "text/utf8.h"

namespace attend {
namespace {

// Changes all but what stands in angle brackets without a space, as <term> does: such tokens have
// one spelling.
std::string ChangeAroundTokens(std::string_view text, std::string (*change)(std::string_view)) {
  std::string changed;
  size_t done = 0;
  for (size_t begin = 0; (begin = text.find('<', begin)) != text.npos; ++begin) {
    const size_t end = text.find_first_of("<> \t", begin + 1);
    if (end == text.npos || text[end] != '>') continue;
    changed += change(text.substr(done, begin - done));
    changed += text.substr(begin, end + 1 - begin);
    done = end + 1;
  }
  return changed + change(text.substr(done));
}

}  // namespace

void CaseNoise::Apply(const Origin& origin, uint64_t time, std::vector<std::string>* texts) const {
  if (share_ == 0) return;
  constexpr uint64_t kKey = 0x63617365;  // "case"
  const double draw = Random{seed_, time, static_cast<uint64_t>(origin.file),
                             static_cast<uint64_t>(origin.line), kKey}
                          .Uniform();
  if (draw >= 2 * share_) return;
  for (std::string& text : *texts) {
    if (NeedsRepair(text)) continue;  // the vocabulary repairs, and counts
    text = ChangeAroundTokens(text, draw < share_ ? InCapitals : InTitleCase);
  }
}

}  // namespace attend
