// The one exception type of attend.
//
// Every public function that can fail throws Error. The message is one printable line of UTF-8:
// what was wrong, the value found, the value expected, the cure. Immutable after construction; safe
// to copy between threads.
#ifndef ATTEND_ERROR_H_
#define ATTEND_ERROR_H_

#include <stdexcept>
#include <string>

namespace attend {

enum class ErrorKind {
  kUsage,          // a call or command line that makes no sense; the command line exits with 2
  kConfiguration,  // an option or configuration file with a wrong name, type or value; exits with 2
  kInput,  // a file that is missing, unreadable, damaged or not what it claims to be; exits with 3
  kRuntime,  // anything else: disk full, lost lock, numbers that blew up; exits with 1
};

class Error : public std::runtime_error {
 public:
  // `message` may quote names from outside. Line ends and control characters in it become escapes
  // such as \n and \u001B; bytes that are not UTF-8 become \xFF.
  Error(ErrorKind kind, const std::string& message);
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace attend

#endif  // ATTEND_ERROR_H_
