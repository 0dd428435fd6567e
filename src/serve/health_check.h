// Asks a running service whether it is healthy, as a container's HEALTHCHECK does.
#ifndef ATTEND_SERVE_HEALTH_CHECK_H_
#define ATTEND_SERVE_HEALTH_CHECK_H_

#include <string>

namespace attend {

// GET /health of `address`, a name or an address and a port: the answer's body, where its status is
// 200. Throws Error(kUsage) for what is no address with a port, Error(kRuntime) where no answer
// comes within `seconds` or it has another status. Finding a name's address is not counted: that
// takes as long as the system's resolver does.
std::string CheckHealth(const std::string& address, double seconds);

}  // namespace attend

#endif  // ATTEND_SERVE_HEALTH_CHECK_H_
