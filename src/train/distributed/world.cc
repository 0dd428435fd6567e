#include "train/distributed/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "attend/error.h"
#include "base/excerpt.h"

namespace attend {
namespace {

constexpr int64_t kMaxSize = 65536;

[[noreturn]] void Refuse(const std::string& message) {
  throw Error(ErrorKind::kConfiguration, message);
}

class Variables {
 public:
  explicit Variables(const std::function<const char*(const char*)>& variable)
      : variable_(variable) {}

  // Empty where it is not set.
  std::string Text(const char* name) const {
    const char* value = variable_(name);
    return value == nullptr ? "" : value;
  }

  // A whole number from `min` to `max`.
  int64_t Number(const char* name, int64_t min, int64_t max) const {
    const std::string text = Text(name);
    int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, number);
    if (status != std::errc() || stop != end || number < min || number > max) {
      Refuse(fmt::format("{} is '{}', expected a whole number from {} to {}", name, Excerpt(text),
                         min, max));
    }
    return number;
  }

  int64_t NumberOr(int64_t fallback, const char* name, int64_t min, int64_t max) const {
    return Text(name).empty() ? fallback : Number(name, min, max);
  }

  void Require(const char* name, const char* because) const {
    if (Text(name).empty()) {
      Refuse(
          fmt::format("{} is set without {}; several processes train together where each is given "
                      "RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun does, or srun "
                      "starts them",
                      because, name));
    }
  }

 private:
  const std::function<const char*(const char*)>& variable_;
};

// The first host of a list as Slurm writes it: "node03" of "node[03-05,7],login".
std::string FirstHost(const std::string& hosts) {
  std::string host;
  for (size_t i = 0; i < hosts.size() && hosts[i] != ',';) {
    if (hosts[i] != '[') {
      host += hosts[i++];
      continue;
    }
    const size_t stop = hosts.find_first_of("-,]", i), close = hosts.find(']', i);
    if (close == std::string::npos || stop == i + 1) return "";
    host += hosts.substr(i + 1, stop - i - 1);
    i = close + 1;
  }
  return host;
}

// What srun tells each process of a step. A batch script itself is of no step, though it has
// SLURM_PROCID and SLURM_NTASKS: what it starts without srun is alone.
World WorldOfSlurm(const Variables& variables) {
  World world;
  if (variables.Text("SLURM_STEP_NUM_TASKS").empty()) return world;
  world.size = variables.Number("SLURM_STEP_NUM_TASKS", 1, kMaxSize);
  if (world.size == 1) return world;
  world.rank = variables.Number("SLURM_PROCID", 0, world.size - 1);
  world.local_rank = variables.NumberOr(-1, "SLURM_LOCALID", 0, world.size - 1);
  world.address = variables.Text("MASTER_ADDR");
  if (world.address.empty()) {
    const std::string hosts = variables.Text("SLURM_STEP_NODELIST");
    world.address = FirstHost(hosts);
    if (world.address.empty()) {
      Refuse(
          fmt::format("SLURM_STEP_NODELIST is '{}', expected hosts such as node[03-05,7]; or "
                      "set MASTER_ADDR to the host of rank 0",
                      Excerpt(hosts)));
    }
  }
  // Below the ports that Linux gives out itself; steps at work at the same time get different ones.
  constexpr int64_t kFirstPort = 10000, kPorts = 20000, kStepsOfAJob = 16, kMost = int64_t{1} << 40;
  const auto derived = [&] {
    const int64_t job = variables.Number("SLURM_JOB_ID", 0, kMost),
                  step = variables.NumberOr(0, "SLURM_STEP_ID", 0, kMost);
    return kFirstPort + (job * kStepsOfAJob + step) % kPorts;
  };
  world.port =
      variables.Text("MASTER_PORT").empty() ? derived() : variables.Number("MASTER_PORT", 1, 65535);
  world.interface = variables.Text("GLOO_SOCKET_IFNAME");
  return world;
}

}  // namespace

World WorldFromEnvironment(const std::function<const char*(const char* name)>& variable) {
  const Variables variables(variable);
  if (variables.Text("RANK").empty() && variables.Text("WORLD_SIZE").empty())
    return WorldOfSlurm(variables);
  World world;
  variables.Require("WORLD_SIZE", "RANK");
  variables.Require("RANK", "WORLD_SIZE");
  world.size = variables.Number("WORLD_SIZE", 1, kMaxSize);
  world.rank = variables.Number("RANK", 0, world.size - 1);
  if (world.size == 1) return world;
  world.local_rank = variables.NumberOr(-1, "LOCAL_RANK", 0, world.size - 1);
  variables.Require("MASTER_ADDR", "WORLD_SIZE");
  variables.Require("MASTER_PORT", "WORLD_SIZE");
  world.address = variables.Text("MASTER_ADDR");
  world.port = variables.Number("MASTER_PORT", 1, 65535);
  world.interface = variables.Text("GLOO_SOCKET_IFNAME");
  world.store_stands = variables.Text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  world.attempt = variables.Text("TORCHELASTIC_RESTART_COUNT");
  return world;
}

int ShareOfThreads(int threads, const World& world) {
  return std::max(threads / static_cast<int>(world.sharers), 1);
}

}  // namespace attend
