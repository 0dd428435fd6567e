// How BLEU and TER cut a line into words: rewrites that put white space where words end.
//
// The rules are those of mteval-v13a.pl, mteval-v14.pl and Tercom as sacreBLEU 2.6.0 follows them,
// with its oddities, since a score must equal its own.
#ifndef ATTEND_METRICS_TOKENIZERS_H_
#define ATTEND_METRICS_TOKENIZERS_H_

#include <string>
#include <string_view>

#include "attend/metrics.h"

namespace attend {

// The line with white space between its tokens. Preconditions: no white space at its end; the
// tokenizer is neither kAuto nor one of a SentencePiece model.
std::u32string TokenizeForBleu(BleuTokenizer tokenizer, std::u32string_view line);

// The same for TER, lower-cased unless case counts.
std::u32string TokenizeForTer(const TerOptions& options, std::u32string line);

}  // namespace attend

#endif  // ATTEND_METRICS_TOKENIZERS_H_
