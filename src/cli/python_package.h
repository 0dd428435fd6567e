// Commands that the Python package runs: attend.convert reads and writes models of other toolkits,
// attend.paper makes the paper's tables.
#ifndef ATTEND_CLI_PYTHON_PACKAGE_H_
#define ATTEND_CLI_PYTHON_PACKAGE_H_

#include <string>
#include <vector>

namespace attend {

// Becomes `python -m MODULE ARGUMENTS` and does not return; the package finds this program where it
// starts one. `command` is named in errors. Throws
// Error(kUsage) where Python lacks the package, Error(kRuntime) where it can't be started.
[[noreturn]] void RunInPython(const std::string& command, const std::string& module,
                              const std::vector<std::string>& arguments);

}  // namespace attend

#endif  // ATTEND_CLI_PYTHON_PACKAGE_H_
