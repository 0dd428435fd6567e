// `attend health`: whether a running service is healthy, for the health checks of containers.
#include <iostream>

#include "base/excerpt.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "serve/health_check.h"

namespace attend {
namespace {

struct HealthOptions {
  std::string address = "127.0.0.1:5000";
  double timeout = 5;
};

FieldList Fields(HealthOptions& options) {
  FieldList fields;
  fields
      .Add("address", &options.address,
           "address and port of the service, or of its metrics_address")
      .Add("timeout", &options.timeout, 0.1, 3600, "seconds to wait for the answer");
  return fields;
}

}  // namespace

int RunHealth(const std::vector<std::string>& arguments) {
  HealthOptions options;
  CommandLine command_line("health",
                           "tell whether a running service is healthy: status 0 where it is, and "
                           "1 where not, for the health checks of containers",
                           "attend health\n"
                           "attend health --address 127.0.0.1:9464 --timeout 2");
  command_line.Options(Fields(options));
  if (!command_line.Parse(arguments)) return 0;
  std::cout << Printable(CheckHealth(options.address, options.timeout)) << '\n';
  return 0;
}

}  // namespace attend
