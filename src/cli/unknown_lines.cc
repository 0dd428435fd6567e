#include "cli/unknown_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/counted.h"
#include "text/mask_token.h"
#include "text/utf8.h"

namespace attend {

void LineList::Add(std::string place) {
  constexpr size_t kNamed = 5;
  if (first_.size() < kNamed) first_.push_back(std::move(place));
  ++count_;
}

std::string LineList::Text() const {
  const int64_t more = count_ - std::ssize(first_);
  return fmt::format("{}{} {}{}", noun_, count_ == 1 ? "" : "s", fmt::join(first_, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

void WarnOfUnknown(const LineList& lines, const UnknownCharacters& unknown, std::string_view loss,
                   const Log& log) {
  if (lines.count() == 0) return;
  log(LogLevel::kWarning,
      fmt::format("{} {} characters that the model's vocabulary lacks, and {}: {}; {}, most "
                  "often {}",
                  Counted(lines.count(), lines.noun()), lines.count() == 1 ? "has" : "have", loss,
                  lines.Text(), Counted(unknown.unknown, "character"), unknown.MostFrequentText()));
}

void UnknownLines::Add(std::span<const std::string> texts, int64_t first_number,
                       const std::string& file) {
  for (size_t i = 0; i < texts.size(); ++i) {
    std::string text = texts[i];
    Replace(kMaskToken, " ", &text);
    if (!counter_.Add(text)) continue;
    const int64_t number = first_number + static_cast<int64_t>(i);
    lines_.Add(file.empty() ? std::to_string(number) : fmt::format("{}:{}", file, number));
  }
}

void UnknownLines::Report(const Log& log) const {
  WarnOfUnknown(lines_, counter_.found(), "the model can't read them", log);
}

}  // namespace attend
