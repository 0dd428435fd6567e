#include "data/case_noise.h"

#include "base/random.h"
#include "text/case_marks.h"
#include "text/utf8.h"

namespace attend {

void CaseNoise::Apply(const Origin& origin, uint64_t time, std::vector<std::string>* texts) const {
  if (share_ == 0) return;
  constexpr uint64_t kKey = 0x63617365;  // "case"
  const double draw = Random{seed_, time, static_cast<uint64_t>(origin.file),
                             static_cast<uint64_t>(origin.line), kKey}
                          .Uniform();
  if (draw >= 2 * share_) return;
  for (std::string& text : *texts) {
    if (NeedsRepair(text)) continue;  // the vocabulary repairs, and counts
    text = draw < share_ ? InCapitals(text) : InTitleCase(text);
  }
}

}  // namespace attend
