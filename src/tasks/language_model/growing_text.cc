#include "tasks/language_model/growing_text.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "text/newlines.h"

namespace attend {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // of bytes that are no character (yet)

// Bytes at the end of the text that begin the stop text.
size_t BegunStopBytes(std::string_view text, std::string_view stop) {
  for (size_t count = std::min(text.size(), stop.size() - 1); count > 0; --count) {
    if (text.ends_with(stop.substr(0, count))) return count;
  }
  return 0;
}

}  // namespace

Continuation::Continuation(const Vocabulary* vocabulary, std::span<const int32_t> prompt)
    : vocabulary_(vocabulary) {
  constexpr size_t kEnough = 8;  // a character has at most 4 bytes, a token each
  const auto last = prompt.last(std::min(prompt.size(), kEnough));
  before_.assign(last.begin(), last.end());
  text_before_ = DecodeText(*vocabulary, before_);
}

// A token that begins a word has a space before it, but none at a text's beginning: it is decoded
// after the prompt's tokens.
std::string Continuation::Decode(std::span<const int32_t> ids) const {
  std::vector<int32_t> all = before_;
  all.insert(all.end(), ids.begin(), ids.end());
  const std::string text = DecodeText(*vocabulary_, all);
  return text.starts_with(text_before_) ? text.substr(text_before_.size())
                                        : DecodeText(*vocabulary_, ids);
}

bool GrowingText::Grow(std::string text, std::span<const std::string> stop) {
  size_t end = std::string::npos;
  for (const std::string& each : stop) end = std::min(end, text.find(each));
  stopped_ = end != std::string::npos;
  text_ = std::move(text);
  if (stopped_) text_.resize(end);
  return !stopped_;
}

std::string GrowingText::Show(std::span<const std::string> stop, bool ended) {
  size_t end = text_.size();
  if (!ended && !stopped_) {
    size_t held = 0;
    for (const std::string& each : stop) held = std::max(held, BegunStopBytes(text_, each));
    end -= held;
    while (std::string_view(text_).substr(0, end).ends_with(kReplacement)) {
      end -= kReplacement.size();
    }
  }
  if (end <= shown_) return "";
  const size_t begin = std::exchange(shown_, end);
  return text_.substr(begin, end - begin);
}

}  // namespace attend
