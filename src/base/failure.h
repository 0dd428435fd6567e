// What users are told of an exception.
#ifndef ATTEND_BASE_FAILURE_H_
#define ATTEND_BASE_FAILURE_H_

#include <exception>
#include <string>

namespace attend {

// One printable line: what an Error and the file system say as it is, a cure where memory ran out,
// and what else there is as an internal error.
std::string MessageOf(const std::exception& failure);

}  // namespace attend

#endif  // ATTEND_BASE_FAILURE_H_
