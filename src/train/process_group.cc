#include "train/process_group.h"

#include <c10/util/Logging.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>
#if defined(USE_C10D_NCCL) && __has_include(<nccl.h>)
#define ATTEND_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include "attend/error.h"
#include "base/excerpt.h"

namespace attend {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using StorePtr = c10::intrusive_ptr<c10d::Store>;

// Silence is counted in beats of the listener, so that time in which all were stopped is none.
constexpr milliseconds kBeat{1000};
constexpr int kSilentBeats = 30;          // after which a rank counts as dead
constexpr int kSilentBeatsAfterLoss = 5;  // the same where a connection broke
constexpr int kGraceBeats = 10;           // from a verdict to the end of a rank that waits for more
constexpr seconds kMeeting{300};
// Of one operation: ranks wait for each other while one of them validates.
constexpr milliseconds kLongest = std::chrono::hours(24 * 30);
constexpr const char* kVerdict = "verdict";
constexpr const char* kHeard = "heard";
constexpr const char* kSize = "size";
constexpr const char* kCure =
    "; give every rank its command again: training goes on from the last checkpoint";

std::string AliveKey(int64_t rank) { return fmt::format("alive/{}", rank); }
std::string PlaceKey(int64_t rank) { return fmt::format("place/{}", rank); }

std::string ReasonOf(const std::exception& error) {
  const auto* of_torch = dynamic_cast<const c10::Error*>(&error);
  const std::string text = of_torch ? of_torch->what_without_backtrace() : error.what();
  return Excerpt(text.substr(0, text.find('\n')), 400);
}

std::string HostName() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
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

StorePtr OpenStore(const World& world, bool server) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(world.port);
  options.isServer = server;
  options.waitWorkers = false;
  options.timeout = kMeeting;
  try {
    return c10::make_intrusive<c10d::PrefixStore>(
        "attend/" + world.attempt, c10::make_intrusive<c10d::TCPStore>(world.address, options));
  } catch (const std::exception& error) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("can't meet the other ranks at {}:{} (MASTER_ADDR, MASTER_PORT): {}",
                            world.address, world.port, ReasonOf(error)));
  }
}

c10::intrusive_ptr<c10d::Backend> MakeBackend(const StorePtr& store, const World& world,
                                              const torch::Device& device) {
  const int rank = static_cast<int>(world.rank), size = static_cast<int>(world.size);
  if (device.is_cuda()) {
#ifdef ATTEND_NCCL
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = kLongest;
    return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, size, options);
#else
    throw Error(ErrorKind::kConfiguration,
                "several processes with device cuda need NCCL, which this LibTorch is built "
                "without, or whose header was not found");
#endif
  }
  auto options = c10d::ProcessGroupGloo::Options::create(kMeeting);
  options->devices.push_back(
      world.interface.empty() ? c10d::ProcessGroupGloo::createDeviceForHostname(
                                    AddressTowards(world.address, world.port))
                              : c10d::ProcessGroupGloo::createDeviceForInterface(world.interface));
  c10::intrusive_ptr<c10d::Backend> gloo =
      c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, size, options);
  gloo->setTimeout(kLongest);
  return gloo;
}

// Tells the other ranks that this one lives, and finds out which one does not. The first to find
// that out leaves a verdict in the store, which then is everyone's.
class RankWatch {
 public:
  RankWatch(StorePtr store, const World& world, ProcessGroup::Abandon abandon)
      : store_(std::move(store)),
        world_(world),
        abandon_(std::move(abandon)),
        beats_([this] { Beat(); }),
        guard_([this] { Guard(); }) {}

  ~RankWatch() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    beats_.join();
    guard_.join();
  }

  // Why the run can't go on; empty while it can.
  std::string verdict() {
    const std::lock_guard lock(mutex_);
    return verdict_;
  }

  // The verdict after a connection broke, as `how` says; it is there within seconds.
  std::string VerdictAfter(const std::string& how) {
    std::unique_lock lock(mutex_);
    patience_ = kSilentBeatsAfterLoss;
    changed_.wait_for(lock, 3 * kSilentBeatsAfterLoss * kBeat, [&] { return !verdict_.empty(); });
    return verdict_.empty() ? fmt::format("lost another rank: {}{}", how, kCure) : verdict_;
  }

  // The caller ends by itself.
  void Disarm() {
    const std::lock_guard lock(mutex_);
    armed_ = false;
  }

 private:
  void Beat() {
    std::vector<std::string> keys;
    for (int64_t rank = 0; rank < world_.size; ++rank) keys.push_back(AliveKey(rank));
    std::vector<std::vector<uint8_t>> last(keys.size());
    std::vector<int> silent(keys.size());
    try {
      do {
        store_->add(AliveKey(world_.rank), 1);
        const std::vector<std::vector<uint8_t>> now = store_->multiGet(keys);
        for (int64_t rank = 0; rank < world_.size; ++rank) {
          silent[rank] = now[rank] == last[rank] ? silent[rank] + 1 : 0;
          if (silent[rank] > Answered()) Convict(rank, silent[rank]);
        }
        last = now;
        if (store_->check({kVerdict})) {
          Conclude(store_->get_to_str(kVerdict));
          store_->add(kHeard, 1);
          return;
        }
      } while (!Pause());
    } catch (const std::exception&) {
      Conclude(StoreIsGone("does not answer any more"));
    }
  }

  // Notes that the store answered; returns for how many beats a rank may be silent.
  int Answered() {
    const std::lock_guard lock(mutex_);
    store_silent_ = 0;
    return patience_;
  }

  void Convict(int64_t rank, int beats) {
    const std::string why =
        fmt::format("rank {} ({}) died: no sign of life for {} s{}", rank,
                    store_->get_to_str(PlaceKey(rank)), beats * kBeat / seconds(1), kCure);
    store_->compareSet(kVerdict, "", why);
  }

  std::string StoreIsGone(const std::string& how) const {
    return fmt::format("{} died: {}:{} {}{}", world_.store_stands ? "torchrun" : "rank 0",
                       world_.address, world_.port, how, kCure);
  }

  void Conclude(const std::string& why) {
    {
      const std::lock_guard lock(mutex_);
      if (verdict_.empty()) verdict_ = why;
    }
    changed_.notify_all();
  }

  // Waits a beat; true where the watch is over.
  bool Pause() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kBeat, [this] { return stopping_; });
  }

  // Needs no network, and so sees that the beats are stuck in it, or that the caller is.
  void Guard() {
    for (int beats_after_verdict = 0; !Pause();) {
      std::unique_lock lock(mutex_);
      if (verdict_.empty()) {
        if (++store_silent_ <= kSilentBeats) continue;
        lock.unlock();
        Conclude(StoreIsGone(fmt::format("gave no answer for {} s", kSilentBeats)));
      } else if (armed_ && ++beats_after_verdict > kGraceBeats) {
        const std::string why = verdict_;
        lock.unlock();
        abandon_(why);
        return;
      }
    }
  }

  const StorePtr store_;
  const World world_;
  const ProcessGroup::Abandon abandon_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string verdict_;
  int patience_ = kSilentBeats;
  int store_silent_ = 0;  // beats
  bool armed_ = true, stopping_ = false;
  std::thread beats_, guard_;
};

// Waits for all ranks. Throws Error naming those that did not come.
void Meet(const StorePtr& store, const World& world) {
  const auto refuse = [&](const std::string& why) {
    store->compareSet(kVerdict, "", fmt::format("rank {} failed: {}", world.rank, why));
    throw Error(ErrorKind::kConfiguration, why);
  };
  if (world.rank == 0) store->set(kSize, std::to_string(world.size));
  if (const std::string size = store->get_to_str(kSize); size != std::to_string(world.size))
    refuse(fmt::format("WORLD_SIZE is {}, expected {} as on rank 0", world.size, size));
  store->set(PlaceKey(world.rank), fmt::format("process {} on {}", getpid(), HostName()));
  if (store->add(AliveKey(world.rank), 1) != 1)
    refuse(fmt::format("RANK {} is given to two processes", world.rank));
  const auto deadline = std::chrono::steady_clock::now() + kMeeting;
  for (int64_t rank = 0; rank < world.size;) {
    if (store->check({AliveKey(rank)})) {
      ++rank;
    } else if (store->check({kVerdict})) {
      throw Error(ErrorKind::kRuntime, store->get_to_str(kVerdict));
    } else if (std::chrono::steady_clock::now() > deadline) {
      throw Error(ErrorKind::kRuntime,
                  fmt::format("rank {} did not come to {}:{} within {} s; start all {} ranks", rank,
                              world.address, world.port, kMeeting.count(), world.size));
    } else {
      std::this_thread::sleep_for(kBeat / 20);
    }
  }
}

}  // namespace

struct ProcessGroup::Impl {
  Impl(const World& world, const torch::Device& device, Abandon abandon)
      : holds_store(world.rank == 0 && !world.store_stands), store(OpenStore(world, holds_store)) {
    // c10d tells of each broken connection with a trace of calls; a verdict says it in one line.
    constexpr int kErrorsOnly = 2;
    FLAGS_caffe2_log_level = std::max<int>(FLAGS_caffe2_log_level, kErrorsOnly);
    Meet(store, world);
    // A connection of its own: one that waits for an answer is locked meanwhile.
    watch = std::make_unique<RankWatch>(OpenStore(world, false), world, std::move(abandon));
    try {
      backend = MakeBackend(store, world, device);
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw Error(ErrorKind::kRuntime, fmt::format("can't connect to the other ranks: {}; "
                                                   "GLOO_SOCKET_IFNAME names the interface to use",
                                                   ReasonOf(error)));
    }
  }

  template <class Start>
  Pending Begin(const Start& start) {
    if (const std::string why = watch->verdict(); !why.empty())
      throw Error(ErrorKind::kRuntime, why);
    const c10::intrusive_ptr<c10d::Work> work = Try(start);
    return [this, work] { Try([&] { return work->wait(); }); };
  }

  // Calls c10d; what it throws becomes the verdict.
  template <class Call>
  auto Try(const Call& call) {
    try {
      return call();
    } catch (const std::exception& error) {
      throw Error(ErrorKind::kRuntime, watch->VerdictAfter(ReasonOf(error)));
    }
  }

  const bool holds_store;
  const StorePtr store;
  std::unique_ptr<RankWatch> watch;  // until the group is left
  c10::intrusive_ptr<c10d::Backend> backend;
};

ProcessGroup::ProcessGroup() : device_(torch::kCPU) {}

ProcessGroup::ProcessGroup(const World& world, const torch::Device& device, Abandon abandon)
    : world_(world), device_(device) {
  if (!alone()) impl_ = std::make_unique<Impl>(world, device, std::move(abandon));
}

ProcessGroup::~ProcessGroup() {
  // Threads may be stuck in the network then; the process ends soon.
  if (impl_ && impl_->watch) (void)impl_.release();
}

ProcessGroup::Pending ProcessGroup::BeginSum(const torch::Tensor& tensor) {
  if (alone()) return [] {};
  return impl_->Begin([&] {
    std::vector<torch::Tensor> tensors{tensor};
    return impl_->backend->allreduce(tensors);
  });
}

ProcessGroup::Pending ProcessGroup::BeginBroadcast(const torch::Tensor& tensor, int64_t from) {
  if (alone()) return [] {};
  return impl_->Begin([&] {
    std::vector<torch::Tensor> tensors{tensor};
    c10d::BroadcastOptions options;
    options.rootRank = from;
    return impl_->backend->broadcast(tensors, options);
  });
}

ProcessGroup::Pending ProcessGroup::BeginSend(const torch::Tensor& tensor, int64_t to) {
  return impl_->Begin([&] {
    std::vector<torch::Tensor> tensors{tensor};
    return impl_->backend->send(tensors, static_cast<int>(to), /*tag=*/0);
  });
}

ProcessGroup::Pending ProcessGroup::BeginReceive(const torch::Tensor& tensor, int64_t from) {
  return impl_->Begin([&] {
    std::vector<torch::Tensor> tensors{tensor};
    return impl_->backend->recv(tensors, static_cast<int>(from), /*tag=*/0);
  });
}

double ProcessGroup::Sum(double value) {
  if (alone()) return value;
  const torch::Tensor sum =
      torch::full({1}, value, torch::TensorOptions().dtype(torch::kFloat64).device(device_));
  BeginSum(sum)();
  return sum.item<double>();
}

std::string ProcessGroup::FromFirst(const std::string& text) {
  if (alone()) return text;
  const torch::Tensor size =
      torch::full({1}, static_cast<int64_t>(text.size()),
                  torch::TensorOptions().dtype(torch::kInt64).device(device_));
  BeginBroadcast(size, 0)();
  torch::Tensor bytes = torch::zeros({size.item<int64_t>()}, torch::kUInt8);
  if (bytes.numel() == 0) return "";
  if (first()) std::memcpy(bytes.mutable_data_ptr(), text.data(), text.size());
  bytes = bytes.to(device_);
  BeginBroadcast(bytes, 0)();
  bytes = bytes.cpu();
  return {static_cast<const char*>(bytes.const_data_ptr()), static_cast<size_t>(bytes.numel())};
}

void ProcessGroup::Leave() {
  if (alone()) return;
  Sum(0);
  impl_->watch.reset();
}

void ProcessGroup::Fail(const std::string& why) {
  if (alone() || !impl_->watch) return;
  impl_->watch->Disarm();
  try {
    impl_->store->compareSet(
        kVerdict, "",
        fmt::format("rank {} failed: {}", rank(), Excerpt(why.substr(0, why.find('\n')), 1000)));
    // The store ends with this process: the others must have heard.
    constexpr int kTries = 100;
    for (int i = 0; impl_->holds_store && i < kTries && impl_->store->add(kHeard, 0) < size(); ++i)
      std::this_thread::sleep_for(kBeat / 20);
  } catch (const std::exception&) {
    // The store is gone, and with it everyone who could be told.
  }
}

}  // namespace attend
