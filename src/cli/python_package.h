// Commands that the Python package runs: attend.convert reads and writes models of other toolkits,
// attend.documents translates documents, attend.paper makes the paper's tables, attend.compare
// compares runs.
#ifndef ATTEND_CLI_PYTHON_PACKAGE_H_
#define ATTEND_CLI_PYTHON_PACKAGE_H_

#include <string>

#include "base/json.h"

namespace attend {

// Becomes `python -m MODULE OPTIONS`, with the options as one JSON object, and does not return; the
// package finds this program where it starts one. `module` is in a part of the package that has an
// extra of its name, by which pip installs what it needs; `command` is named in errors. Throws
// Error(kUsage) where Python lacks the package, Error(kRuntime) where it can't be started.
[[noreturn]] void RunInPython(const std::string& command, const std::string& module,
                              const Json& options);

}  // namespace attend

#endif  // ATTEND_CLI_PYTHON_PACKAGE_H_
