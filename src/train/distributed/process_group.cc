#include "train/distributed/process_group.h"

#include <c10/util/Logging.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <sys/socket.h>
#include <torch/cuda.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <string_view>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>
#if defined(ATTEND_NCCL) && defined(USE_C10D_NCCL)
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/thread_pool.h"
#include "train/device/device.h"
#include "train/distributed/rank_watch.h"

namespace attend {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr seconds kMeeting{300};         // for the first of the other ranks
constexpr seconds kRest{60};             // for each that comes after it
constexpr seconds kBetweenMessages{10};  // about whom one waits for
// Of one operation: ranks wait for each other while one of them validates.
constexpr milliseconds kLongest = std::chrono::hours(24 * 30);
constexpr const char* kSize = "size";

std::string AddressKey(int64_t rank) { return fmt::format("address/{}", rank); }
std::string MachineKey(int64_t rank) { return fmt::format("machine/{}", rank); }
std::string ProcessorsKey(int64_t rank) { return fmt::format("processors/{}", rank); }
std::string TakenKey(int64_t rank) { return fmt::format("taken/{}", rank); }

std::string ReasonOf(const std::exception& error) {
  const std::string text = error.what();  // c10d's go on with a trace of calls
  return Excerpt(text.substr(0, text.find('\n')), 400);
}

// NCCL finds it in the first operation, on the ranks that share one; others hear of it as a
// verdict.
void RefuseSharedGpu(const std::exception& error) {
  if (std::string_view(error.what()).find("Duplicate GPU") == std::string_view::npos) return;
  throw Error(
      ErrorKind::kConfiguration,
      "two ranks have the same GPU: a machine runs no more ranks than it has GPUs, and "
      "--device cuda, without a number, gives each its own, by LOCAL_RANK where that is set");
}

// No other machine's or container's.
std::string MachineName() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return fmt::format("{} {}", HostName(), boot);
}

// The name of this machine's address from which others are reached as `host` is.
std::string AddressTowards(const std::string& host, int64_t port) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_socktype = SOCK_DGRAM;  // connecting sends nothing
  std::string address;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return address;
  for (const addrinfo* each = found; each != nullptr && address.empty(); each = each->ai_next) {
    const int descriptor = socket(each->ai_family, each->ai_socktype, each->ai_protocol);
    if (descriptor < 0) continue;
    sockaddr_storage local = {};
    socklen_t size = sizeof local;
    char name[NI_MAXHOST] = {};
    if (connect(descriptor, each->ai_addr, each->ai_addrlen) == 0 &&
        getsockname(descriptor, reinterpret_cast<sockaddr*>(&local), &size) == 0 &&
        getnameinfo(reinterpret_cast<sockaddr*>(&local), size, name, sizeof name, nullptr, 0,
                    NI_NUMERICHOST) == 0) {
      address = name;
    }
    close(descriptor);
  }
  freeaddrinfo(found);
  return address;
}

// What each rank has put there.
std::vector<std::string> OfAll(const StorePtr& store, const World& world,
                               std::string (*key)(int64_t rank)) {
  std::vector<std::string> values;
  for (int64_t rank = 0; rank < world.size; ++rank) values.push_back(store->get_to_str(key(rank)));
  return values;
}

bool IsLoopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

// Where other ranks reach this one, of all ranks' own addresses. /etc/hosts may give a machine's
// own name to its loopback, which is of no use to ranks elsewhere: one of theirs leads to the right
// interface.
std::string ReachableAddress(const std::vector<std::string>& addresses, const World& world) {
  const std::string& own = addresses[world.rank];
  const auto elsewhere = std::find_if_not(addresses.begin(), addresses.end(), IsLoopback);
  if (!IsLoopback(own) || elsewhere == addresses.end()) return own;
  return AddressTowards(*elsewhere, world.port);
}

// Nobody knows an address of it; not where there is nobody to ask.
bool IsUnknown(const std::string& host) {
  addrinfo* found = nullptr;
  const int status = getaddrinfo(host.c_str(), nullptr, nullptr, &found);
  if (status == 0) freeaddrinfo(found);
  return status == EAI_NONAME;
}

// Waits for rank 0, which serves the store, or for torchrun's.
StorePtr OpenStore(const World& world, bool server, seconds patience, const Log& log) {
  const auto deadline = steady_clock::now() + patience;
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(world.port);
  options.isServer = server;
  options.waitWorkers = false;
  options.timeout = kBetweenMessages;
  while (true) {
    try {
      const auto store = c10::make_intrusive<c10d::TCPStore>(world.address, options);
      store->setTimeout(kMeeting);
      return c10::make_intrusive<c10d::PrefixStore>("attend/" + world.attempt, store);
    } catch (const std::exception& error) {
      if (server || steady_clock::now() > deadline) {
        throw Error(
            ErrorKind::kRuntime,
            fmt::format("can't meet the other ranks at {}:{} (MASTER_ADDR, MASTER_PORT): {}",
                        world.address, world.port,
                        IsUnknown(world.address) ? "no such host is known here" : ReasonOf(error)));
      }
    }
    log(LogLevel::kInfo, fmt::format("waiting for rank 0 at {}:{}", world.address, world.port));
    std::this_thread::sleep_for(kGlance);
  }
}

using BackendPtr = c10::intrusive_ptr<c10d::Backend>;

BackendPtr MakeNccl([[maybe_unused]] const StorePtr& store, [[maybe_unused]] const World& world) {
#if defined(ATTEND_NCCL) && defined(USE_C10D_NCCL)
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = kLongest;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, static_cast<int>(world.rank),
                                                     static_cast<int>(world.size), options);
#else
  throw Error(
      ErrorKind::kConfiguration,
      "several processes with device cuda need a build with NCCL: a LibTorch that has it, and "
      "its header nccl.h");
#endif
}

BackendPtr MakeGloo(const StorePtr& store, const World& world) {
  auto options = c10d::ProcessGroupGloo::Options::create(kRest);
  options->devices.push_back(
      world.interface.empty() ? c10d::ProcessGroupGloo::createDeviceForHostname(
                                    ReachableAddress(OfAll(store, world, AddressKey), world))
                              : c10d::ProcessGroupGloo::createDeviceForInterface(world.interface));
  BackendPtr gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(
      store, static_cast<int>(world.rank), static_cast<int>(world.size), options);
  gloo->setTimeout(kLongest);
  return gloo;
}

}  // namespace

struct ProcessGroup::Impl {
  Impl(const World& world, Ends ends, const Log& log)
      : store(OpenStore(world, world.rank == 0 && !world.store_stands, kMeeting, log)) {
    // A connection of its own: one that waits for an answer is locked meanwhile.
    StorePtr watched = OpenStore(world, /*server=*/false, kRest, log);
    ends.hold_stop(true);  // the watch has the others wait for this rank
    watch = std::make_unique<RankWatch>(std::move(watched), world, std::move(ends));
  }

  void ThrowVerdict() const {
    if (const std::string why = watch->verdict(); !why.empty())
      throw Error(ErrorKind::kRuntime, why);
  }

  // Calls c10d; what it throws becomes the verdict.
  template <class Call>
  auto Try(const Call& call) {
    try {
      return call();
    } catch (const std::exception& error) {
      RefuseSharedGpu(error);
      throw Error(ErrorKind::kRuntime, watch->VerdictAfter(ReasonOf(error)));
    }
  }

  // Takes the rank's place in the group.
  void Enter(const World& world) {
    const auto refuse = [](const std::string& why) { throw Error(ErrorKind::kConfiguration, why); };
    const std::string own_size = std::to_string(world.size);
    const std::string size = Try([&] { return store->compareSet(kSize, "", own_size); });
    if (size != own_size)
      refuse(fmt::format("WORLD_SIZE is {}, expected {} as on other ranks", own_size, size));
    const std::string machine = MachineName();
    Try([&] {
      store->set(AddressKey(world.rank), AddressTowards(world.address, world.port));
      store->set(MachineKey(world.rank), machine);
      store->set(ProcessorsKey(world.rank),
                 fmt::format("{} {}", machine, fmt::join(AvailableProcessors(), ",")));
    });
    if (Try([&] { return store->add(TakenKey(world.rank), 1); }) != 1) {
      refuse(fmt::format(
          "RANK {} is given to two processes, or was started again before the others ended",
          world.rank));
    }
  }

  // The ranks that have not entered yet.
  std::vector<int64_t> Absent(int64_t size) {
    ThrowVerdict();
    std::vector<int64_t> absent;
    for (int64_t rank = 0; rank < size; ++rank) {
      if (!Try([&] { return store->check({TakenKey(rank)}); })) absent.push_back(rank);
    }
    return absent;
  }

  // Counts the ranks that are where this one is.
  void CompleteWorld(World* world) {
    Try([&] {
      const std::vector<std::string> machines = OfAll(store, *world, MachineKey);
      const auto own = machines.begin() + world->rank;
      if (world->local_rank < 0) world->local_rank = std::count(machines.begin(), own, *own);
      const std::vector<std::string> processors = OfAll(store, *world, ProcessorsKey);
      world->sharers = std::count(processors.begin(), processors.end(), processors[world->rank]);
    });
  }

  // NCCL takes what is on GPUs alone, Gloo what is in memory.
  c10d::Backend& Of(const torch::Tensor& tensor) const { return tensor.is_cpu() ? *gloo : *nccl; }

  template <class Start>
  Pending Begin(const Start& start) {
    ThrowVerdict();
    const c10::intrusive_ptr<c10d::Work> work = Try(start);
    return [this, work] { Try([&] { return work->wait(); }); };
  }

  const StorePtr store;
  std::unique_ptr<RankWatch> watch;  // until the group is left
  BackendPtr nccl, gloo;             // no NCCL on CPUs
  torch::Device device{torch::kCPU};
};

ProcessGroup::ProcessGroup() = default;

ProcessGroup::ProcessGroup(const World& world, Ends ends, const Log& log) : world_(world) {
  if (alone()) return;
  // c10d tells of each broken connection with a trace of calls; an error of ours says it in a line.
  constexpr int kFatalOnly = 3;
  FLAGS_caffe2_log_level = std::max<int>(FLAGS_caffe2_log_level, kFatalOnly);
  impl_ = std::make_unique<Impl>(world, std::move(ends), log);
}

ProcessGroup::~ProcessGroup() {
  // Threads may be stuck in the network then; the process ends soon.
  if (impl_ && impl_->watch) (void)impl_.release();
}

void ProcessGroup::Meet(const Log& log) {
  if (alone()) return;
  impl_->Enter(world_);
  auto arrival = steady_clock::now(), message = arrival;  // the last of each
  size_t missing = size() - 1;
  while (true) {
    const std::vector<int64_t> absent = impl_->Absent(size());
    if (absent.empty()) break;
    const auto now = steady_clock::now();
    if (std::exchange(missing, absent.size()) > absent.size()) arrival = now;
    const std::string who =
        fmt::format("rank {}", Excerpt(fmt::format("{}", fmt::join(absent, ", "))));
    const seconds patience = std::ssize(absent) == size() - 1 ? kMeeting : kRest;
    if (now - arrival > patience) {
      throw Error(ErrorKind::kRuntime,
                  fmt::format("{} did not come to {}:{} within {} s; start all {} ranks", who,
                              world_.address, world_.port, patience.count(), size()));
    }
    if (first() && now - message > kBetweenMessages) {
      message = now;
      log(LogLevel::kInfo,
          fmt::format("waiting for {} at {}:{}", who, world_.address, world_.port));
    }
    std::this_thread::sleep_for(kGlance);
  }
  impl_->CompleteWorld(&world_);
}

void ProcessGroup::Connect(const torch::Device& device) {
  if (alone()) return;
  try {
    impl_->device = device;
    if (device.is_cuda()) impl_->nccl = MakeNccl(impl_->store, world_);
    impl_->gloo = MakeGloo(impl_->store, world_);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    const std::string verdict = impl_->watch->AwaitVerdict();
    throw Error(ErrorKind::kRuntime,
                verdict.empty() ? fmt::format("can't connect to the other ranks: {}; "
                                              "GLOO_SOCKET_IFNAME names the interface to use",
                                              ReasonOf(error))
                                : verdict);
  }
}

ProcessGroup::Pending ProcessGroup::BeginSum(const torch::Tensor& tensor) {
  if (alone()) return [] {};
  return impl_->Begin([&] {
    std::vector<torch::Tensor> tensors{tensor};
    return impl_->Of(tensor).allreduce(tensors);
  });
}

ProcessGroup::Pending ProcessGroup::BeginBroadcast(const torch::Tensor& tensor, int64_t from) {
  if (alone()) return [] {};
  return impl_->Begin([&] {
    std::vector<torch::Tensor> tensors{tensor};
    c10d::BroadcastOptions options;
    options.rootRank = from;
    return impl_->Of(tensor).broadcast(tensors, options);
  });
}

ProcessGroup::Pending ProcessGroup::BeginSend(const torch::Tensor& tensor, int64_t to) {
  return impl_->Begin([&] {
    std::vector<torch::Tensor> tensors{tensor};
    return impl_->Of(tensor).send(tensors, static_cast<int>(to), /*tag=*/0);
  });
}

ProcessGroup::Pending ProcessGroup::BeginReceive(const torch::Tensor& tensor, int64_t from) {
  return impl_->Begin([&] {
    std::vector<torch::Tensor> tensors{tensor};
    return impl_->Of(tensor).recv(tensors, static_cast<int>(from), /*tag=*/0);
  });
}

double ProcessGroup::Sum(double value) {
  const torch::Tensor sum = torch::full({1}, value, torch::kFloat64);
  BeginSum(sum)();
  return sum.item<double>();
}

ProcessGroup::Gathered ProcessGroup::BeginGather(const std::string& own) {
  if (alone()) return [own] { return std::vector<std::string>{own}; };
  const torch::Tensor sizes = torch::zeros({size()}, torch::kInt64);
  int64_t* size_of = sizes.mutable_data_ptr<int64_t>();
  size_of[rank()] = std::ssize(own);
  BeginSum(sizes)();
  const int64_t longest = *std::max_element(size_of, size_of + size());
  if (longest == 0) return [count = size()] { return std::vector<std::string>(count); };
  torch::Tensor bytes = torch::zeros({longest}, torch::kUInt8);
  torch::Tensor all = torch::empty({size() * longest}, torch::kUInt8);
  std::memcpy(bytes.mutable_data_ptr(), own.data(), own.size());
  const Pending pending = impl_->Begin([&] { return impl_->gloo->_allgather_base(all, bytes); });
  return [pending, sizes, all, longest] {
    pending();
    std::vector<std::string> parts;
    const auto* begin = static_cast<const char*>(all.const_data_ptr());
    for (int64_t rank = 0; rank < sizes.size(0); ++rank)
      parts.emplace_back(begin + rank * longest, sizes.const_data_ptr<int64_t>()[rank]);
    return parts;
  };
}

std::string ProcessGroup::FromFirst(const std::string& text) {
  if (alone()) return text;
  const torch::Tensor size = torch::full({1}, std::ssize(text), torch::kInt64);
  BeginBroadcast(size, 0)();
  const torch::Tensor bytes = torch::zeros({size.item<int64_t>()}, torch::kUInt8);
  if (bytes.numel() == 0) return "";
  if (first()) std::memcpy(bytes.mutable_data_ptr(), text.data(), text.size());
  BeginBroadcast(bytes, 0)();
  return {static_cast<const char*>(bytes.const_data_ptr()), static_cast<size_t>(bytes.numel())};
}

void ProcessGroup::EndSetUp() {
  if (!alone()) impl_->watch->EndSetUp();
}

void ProcessGroup::Leave() {
  if (alone()) return;
  // NCCL's operations may still run: a rank that ends would take them from the others.
  if (impl_->nccl) torch::cuda::synchronize(impl_->device.index());
  Sum(0);
  impl_->watch.reset();
}

void ProcessGroup::Fail(const std::string& why) {
  if (alone() || !impl_->watch || !impl_->watch->Ending(why)) return;
  try {
    impl_->watch->Tell(fmt::format("rank {} failed: {}", rank(), Excerpt(why, 1000)));
  } catch (const std::exception&) {
    // The store is gone, and with it everyone who could be told.
  }
}

}  // namespace attend
