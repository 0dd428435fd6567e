#include "attend/error.h"

#include "base/excerpt.h"

namespace attend {

Error::Error(ErrorKind kind, const std::string& message)
    : std::runtime_error(Printable(message)), kind_(kind) {}

}  // namespace attend
