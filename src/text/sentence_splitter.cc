#include "text/sentence_splitter.h"

#include <fmt/format.h>
#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/utext.h>

#include <memory>

#include "attend/error.h"

namespace attend {
namespace {

void Check(UErrorCode status) {
  if (U_FAILURE(status)) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("can't split into sentences: ICU says {}; is its data installed?",
                            u_errorName(status)));
  }
}

}  // namespace

std::vector<std::string_view> SplitSentences(std::string_view text, const std::string& language) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Locale locale =
      language.empty() ? icu::Locale::getRoot() : icu::Locale::createFromName(language.c_str());
  const std::unique_ptr<icu::BreakIterator> breaks(
      icu::BreakIterator::createSentenceInstance(locale, status));
  Check(status);
  const std::unique_ptr<UText, decltype(&utext_close)> utf8(
      utext_openUTF8(nullptr, text.data(), static_cast<int64_t>(text.size()), &status),
      &utext_close);
  Check(status);
  breaks->setText(utf8.get(), status);
  Check(status);
  std::vector<std::string_view> sentences;
  int32_t start = breaks->first();
  for (int32_t end = breaks->next(); end != icu::BreakIterator::DONE;
       start = end, end = breaks->next()) {
    sentences.push_back(text.substr(start, end - start));
  }
  return sentences;
}

}  // namespace attend
