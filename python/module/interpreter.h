// The GIL, for calls that may be in the midst of their work when the interpreter ends.
//
// Python up to 3.13 ends a thread that asks for the GIL of an interpreter that is no more, by an
// unwinding of its stack that C++ may not survive. Here the thread sleeps until the process is
// gone, as it does by itself from Python 3.14 on.
#ifndef ATTEND_PYTHON_MODULE_INTERPRETER_H_
#define ATTEND_PYTHON_MODULE_INTERPRETER_H_

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <utility>

namespace attend {

// What `ask`, which may run Python code or wait for the GIL, returns.
template <class Ask>
auto FromPython(const Ask& ask) {
  try {
    return ask();
  } catch (abi::__forced_unwind&) {  // to be rethrown or never left
    while (true) pause();
  }
}

// The same for a new reference, which null says is an exception.
template <class Ask>
nanobind::object NewFromPython(const Ask& ask) {
  PyObject* const made = FromPython(ask);
  if (made == nullptr) throw nanobind::python_error();
  return nanobind::steal(made);
}

// Other threads run Python meanwhile.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() {
    FromPython([this] { PyEval_RestoreThread(state_); });
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace attend

#endif  // ATTEND_PYTHON_MODULE_INTERPRETER_H_
