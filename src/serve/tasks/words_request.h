// Requests whose texts may come divided into words.
#ifndef ATTEND_SERVE_TASKS_WORDS_REQUEST_H_
#define ATTEND_SERVE_TASKS_WORDS_REQUEST_H_

#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "serve/tasks/encoder_handler.h"

namespace attend {

// Takes `text` or `words` out of the body, of one text or of several; with words the texts are the
// words joined by blanks, as their positions count. Returns whether there were words. Throws
// Error(kInput) where both are there, or neither.
bool TakeTextsOrWords(Json* body, EncoderRequest* asked);

std::vector<std::vector<std::string>> WordsOf(std::span<EncoderText* const> texts);

// The members of such a request's schema; `what` says what the texts are for. One of the two is
// required.
Json TextOrWords(const std::string& what);
void RequireTextOrWords(Json* schema);

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_WORDS_REQUEST_H_
