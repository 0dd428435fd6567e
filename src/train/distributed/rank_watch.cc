#include "train/distributed/rank_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <vector>

namespace attend {
namespace {

using std::chrono::seconds;

// Silence is counted in beats of the listener, so that time in which all were stopped is none.
constexpr int kSilentBeats = 30;          // after which a rank counts as dead
constexpr int kSilentBeatsAfterLoss = 5;  // the same where a connection broke
constexpr int kGraceBeats = 10;           // from a verdict to the end of a rank that waits for more
constexpr int kEndingBeats = 2 * kGraceBeats;  // the same of one that ends, and tells why
static_assert(kSilentBeats + kEndingBeats < 60, "a rank's death ends the others within a minute");
constexpr const char* kVerdict = "verdict";
constexpr const char* kHeard = "heard";
constexpr const char* kCure =
    "; give every rank its command again: training goes on from the last checkpoint";

std::string AliveKey(int64_t rank) { return fmt::format("alive/{}", rank); }
std::string PlaceKey(int64_t rank) { return fmt::format("place/{}", rank); }

}  // namespace

std::string HostName() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

RankWatch::RankWatch(StorePtr store, const World& world, ProcessGroup::Ends ends,
                     std::chrono::milliseconds beat)
    : store_(std::move(store)),
      world_(world),
      ends_(std::move(ends)),
      beat_(beat),
      patience_(kSilentBeats) {
  Announce();
  beats_ = std::thread([this] { Beat(); });
  guard_ = std::thread([this] { Guard(); });
}

RankWatch::~RankWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  beats_.join();
  guard_.join();
}

std::string RankWatch::verdict() {
  const std::lock_guard lock(mutex_);
  return verdict_;
}

std::string RankWatch::AwaitVerdict() {
  std::unique_lock lock(mutex_);
  patience_ = kSilentBeatsAfterLoss;
  changed_.wait_for(lock, 3 * kSilentBeatsAfterLoss * beat_, [&] { return !verdict_.empty(); });
  return verdict_;
}

std::string RankWatch::VerdictAfter(const std::string& how) {
  const std::string verdict = AwaitVerdict();
  return verdict.empty() ? fmt::format("lost another rank: {}{}", how, kCure) : verdict;
}

bool RankWatch::Ending(const std::string& why) {
  const std::lock_guard lock(mutex_);
  setting_up_ = false;
  if (!ending_.empty()) return false;
  ending_ = why;
  return true;
}

void RankWatch::EndSetUp() {
  const std::lock_guard lock(mutex_);
  setting_up_ = false;
}

void RankWatch::Tell(const std::string& why) {
  store_->compareSet(kVerdict, "", why);
  {
    const std::lock_guard lock(mutex_);
    told_ = true;
  }
  Hear();
  const bool holds_store = world_.rank == 0 && !world_.store_stands;
  for (int i = 0; holds_store && i < kGraceBeats * beat_ / kGlance; ++i) {
    if (store_->add(kHeard, 0) >= world_.size) return;
    std::this_thread::sleep_for(kGlance);
  }
}

void RankWatch::Announce() {
  try {
    store_->set(PlaceKey(world_.rank), fmt::format("process {} on {}", getpid(), HostName()));
    // Asking for a key that is not there would wait.
    for (int64_t rank = 0; rank < world_.size; ++rank) store_->add(AliveKey(rank), 0);
    store_->add(AliveKey(world_.rank), 1);
  } catch (const std::exception&) {
    Conclude(StoreIsGone("does not answer"));
  }
}

void RankWatch::Beat() {
  std::vector<std::string> keys;
  for (int64_t rank = 0; rank < world_.size; ++rank) keys.push_back(AliveKey(rank));
  const std::vector<uint8_t> none{'0'};
  std::vector<std::vector<uint8_t>> last(keys.size(), none);
  std::vector<int> silent(keys.size());
  try {
    do {
      store_->add(AliveKey(world_.rank), 1);
      const std::vector<std::vector<uint8_t>> now = store_->multiGet(keys);
      for (int64_t rank = 0; rank < world_.size; ++rank) {
        const bool same = now[rank] == last[rank] && now[rank] != none;
        silent[rank] = same ? silent[rank] + 1 : 0;
        if (silent[rank] > Answered()) Convict(rank, silent[rank]);
      }
      last = now;
      if (StopIsDue()) {
        Tell(fmt::format("rank {} was stopped by a signal{}", world_.rank, kCure));
        ends_.hold_stop(false);
      }
      if (store_->check({kVerdict})) {
        Conclude(store_->get_to_str(kVerdict));
        Hear();
        return;
      }
    } while (!Pause());
  } catch (const std::exception&) {
    Conclude(StoreIsGone("does not answer any more"));
  }
}

void RankWatch::Hear() {
  std::call_once(heard_, [this] { store_->add(kHeard, 1); });
}

bool RankWatch::StopIsDue() {
  const std::lock_guard lock(mutex_);
  return setting_up_ && ends_.stop_requested();
}

int RankWatch::Answered() {
  const std::lock_guard lock(mutex_);
  store_silent_ = 0;
  return patience_;
}

void RankWatch::Convict(int64_t rank, int beats) {
  const std::string why =
      fmt::format("rank {} ({}) died: no sign of life for {} s{}", rank,
                  store_->get_to_str(PlaceKey(rank)), beats * beat_ / seconds(1), kCure);
  store_->compareSet(kVerdict, "", why);
}

std::string RankWatch::StoreIsGone(const std::string& how) const {
  return fmt::format("{} died: {}:{} {}{}", world_.store_stands ? "torchrun" : "rank 0",
                     world_.address, world_.port, how, kCure);
}

void RankWatch::Conclude(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (verdict_.empty()) verdict_ = why;
  }
  changed_.notify_all();
}

bool RankWatch::Pause() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, beat_, [this] { return stopping_; });
}

void RankWatch::Guard() {
  for (int beats_after_verdict = 0; !Pause();) {
    std::unique_lock lock(mutex_);
    if (verdict_.empty()) {
      if (++store_silent_ <= kSilentBeats) continue;
      lock.unlock();
      Conclude(
          StoreIsGone(fmt::format("gave no answer for {} s", kSilentBeats * beat_ / seconds(1))));
    } else if (++beats_after_verdict > (ending_.empty() ? kGraceBeats : kEndingBeats)) {
      const bool untold = !ending_.empty() && !told_;
      const std::string why =
          untold ? fmt::format("{}; it can't be told: {}", ending_, verdict_) : verdict_;
      lock.unlock();
      ends_.abandon(why);
      return;
    }
  }
}

}  // namespace attend
