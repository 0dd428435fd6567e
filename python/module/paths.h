// Paths that Python gives.
#ifndef ATTEND_PYTHON_MODULE_PATHS_H_
#define ATTEND_PYTHON_MODULE_PATHS_H_

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

namespace attend {

// The bytes of a path, a str or an os.PathLike[str]. Throws TypeError for anything else.
std::string PathOf(nanobind::handle value);

// Throws TypeError for a single path, whose letters nobody means, and for bytes.
void RefuseOnePath(nanobind::handle values);

// Of an iterable of paths. Throws TypeError for a single one, too.
std::vector<std::string> PathsOf(nanobind::handle values);

}  // namespace attend

#endif  // ATTEND_PYTHON_MODULE_PATHS_H_
