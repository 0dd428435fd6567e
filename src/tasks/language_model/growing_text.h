// The text of an output as it grows: where a stop text ends it, and what of it may be shown.
#ifndef ATTEND_TASKS_LANGUAGE_MODEL_GROWING_TEXT_H_
#define ATTEND_TASKS_LANGUAGE_MODEL_GROWING_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attend/vocabulary.h"

namespace attend {

// Ids to the text that they add to a prompt's. Immutable; safe to use from many threads.
class Continuation {
 public:
  Continuation(const Vocabulary* vocabulary, std::span<const int32_t> prompt);
  std::string Decode(std::span<const int32_t> ids) const;

 private:
  const Vocabulary* vocabulary_;
  std::vector<int32_t> before_;  // the prompt's last ids
  std::string text_before_;
};

// One owner.
class GrowingText {
 public:
  // `text`: all of the output so far. false: one of the stop texts is in it; the text ends before
  // the first.
  bool Grow(std::string text, std::span<const std::string> stop);
  const std::string& text() const { return text_; }
  // The text that may be shown and has not been. Held back until the end: what may be the start of
  // a stop text or half a character.
  std::string Show(std::span<const std::string> stop, bool ended);

 private:
  std::string text_;
  size_t shown_ = 0;
  bool stopped_ = false;
};

}  // namespace attend

#endif  // ATTEND_TASKS_LANGUAGE_MODEL_GROWING_TEXT_H_
