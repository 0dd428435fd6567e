#include "fuzz/harness.h"
#include "html/html_fixture.h"
#include "text/lines.h"

namespace attend {
namespace {

// Its words in reverse, so that tags part and cross.
Hypothesis Reversed(const std::string& text) {
  const auto words = static_cast<int64_t>(WordEnds(text).size());
  Hypothesis hypothesis;
  hypothesis.text = text;
  for (int64_t w = 0; w < words; ++w) hypothesis.alignment.push_back({w, words - 1 - w});
  return hypothesis;
}

void ReadHtml(std::string_view html) { TranslateHtml(html, Reversed); }

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return attend::ReadForeign(data, size, attend::ErrorKind::kInput, attend::ReadHtml);
}
