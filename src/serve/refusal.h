// What a request gets instead of the answer that it asked for.
#ifndef ATTEND_SERVE_REFUSAL_H_
#define ATTEND_SERVE_REFUSAL_H_

#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "attend/error.h"
#include "serve/http_message.h"

namespace attend {

// Thrown by whoever can't answer.
class Refusal : public std::runtime_error {
 public:
  Refusal(int status, const std::string& message, HttpHeaders headers = {})
      : std::runtime_error(message), status(status), headers(std::move(headers)) {}
  const int status;
  const HttpHeaders headers;
};

// Thrown where a request names a model that is not there: 404 as the OpenAI API has it, elsewhere
// 400.
class UnknownModel : public Error {
 public:
  explicit UnknownModel(const std::string& message) : Error(ErrorKind::kUsage, message) {}
};

// The answer for what a handler or an engine threw.
HttpResponse ResponseTo(const std::exception_ptr& error, ErrorForm form);

// Does the work. False: it threw, and that is the answer.
bool Attempt(const std::shared_ptr<Exchange>& exchange, const std::function<void()>& work);

}  // namespace attend

#endif  // ATTEND_SERVE_REFUSAL_H_
