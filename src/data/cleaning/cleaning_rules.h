// Rules that parallel text, or text of one language, must keep to be worth training on.
#ifndef ATTEND_DATA_CLEANING_CLEANING_RULES_H_
#define ATTEND_DATA_CLEANING_CLEANING_RULES_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "data/cleaning/line_facts.h"
#include "data/line_corpus.h"

namespace attend {

// Why a line was dropped: the first that applies, in this order. The last three need other lines or
// models; CleaningRules knows nothing of them.
enum class Fault : uint8_t {
  kNone,
  kEmpty,
  kMalformed,
  kTooShort,
  kTooLong,
  kLongWord,
  kRatio,
  kLetters,
  kScript,
  kNumbers,
  kCopy,
  kLanguage,
  kDuplicate,
  kScore,
  kShare,
};
inline constexpr size_t kFaults = static_cast<size_t>(Fault::kShare) + 1;
// "too_short": as reports and files name it.
const char* FaultName(Fault fault);
// "too short"
std::string FaultText(Fault fault);

// What makes a line a duplicate of an earlier one that was kept.
enum class Duplicates { kNone, kPair, kSource, kTarget, kEither };

struct CleaningOptions {
  std::string source_language, target_language;  // codes; empty: not checked
  CorpusFilters lengths{.min_length = 1, .max_length = 200, .max_length_ratio = 4};  // of words
  int64_t max_word_length = 100;
  double min_letters = 0.5;
  double min_script = 0.8;
  bool numbers = false;
  bool keep_copies = false;
  bool detect_language = true;
  Duplicates duplicates = Duplicates::kPair;
};

FieldList Fields(CleaningOptions& options);

// Whether a text is surely in another language than `code`. Called from many threads.
using IsOtherLanguage = std::function<bool(std::string_view text, const std::string& code)>;

// Immutable, and safe to use from many threads.
class CleaningRules {
 public:
  // `is_other` may be null: then no language is detected. Throws Error(kConfiguration) for codes of
  // languages that are none.
  CleaningRules(const CleaningOptions& options, IsOtherLanguage is_other);

  struct Verdict {
    Fault fault = Fault::kNone;
    // Of a line without a fault: what it is a duplicate by, none with Duplicates::kNone.
    std::vector<uint64_t> hashes;
  };
  // Of one text, or of source and target. Precondition: well-formed UTF-8.
  Verdict Judge(std::span<const std::string_view> sides) const;

 private:
  // By the rules before those that need BareText.
  Fault FaultOf(std::span<const std::string_view> sides) const;
  Fault LengthFault(std::span<const LineFacts> facts) const;
  bool IsForeign(std::string_view text, size_t side) const;
  // Verdict's, of texts that BareText made.
  std::vector<uint64_t> HashesOf(std::span<const std::string> bare) const;

  CleaningOptions options_;
  IsOtherLanguage is_other_;
  std::vector<std::string> languages_;  // of source and target
  std::vector<Scripts> scripts_;        // none of a language that is not given
};

}  // namespace attend

#endif  // ATTEND_DATA_CLEANING_CLEANING_RULES_H_
