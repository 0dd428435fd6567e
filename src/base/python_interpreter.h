// The Python that has the package `attend`, for whoever starts it.
#ifndef ATTEND_BASE_PYTHON_INTERPRETER_H_
#define ATTEND_BASE_PYTHON_INTERPRETER_H_

#include <string>
#include <vector>

namespace attend {

struct PythonInterpreter {
  std::string program;                   // a path, or a name that PATH finds
  std::vector<std::string> environment;  // NAME=VALUE; the package finds this program by it
};

// ATTEND_PYTHON, or the Python that a build made the module beside this program for, or the one
// that was installed with the program, or any. Whether it has the package nobody has tried.
PythonInterpreter FindPython();

// The arguments of a call that runs this code. It imports nothing from the working directory, which
// may be anybody's.
std::vector<std::string> CallOf(const PythonInterpreter& python, const std::string& code);

}  // namespace attend

#endif  // ATTEND_BASE_PYTHON_INTERPRETER_H_
