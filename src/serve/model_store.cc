#include "serve/model_store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "attend/error.h"
#include "serve/language_codes.h"
#include "text/ascii.h"

namespace attend {
namespace {

constexpr std::chrono::seconds kLookEvery{1};

// Which files stand at the path now; "" where no model does.
std::string StampOf(const std::string& directory) {
  std::string stamp;
  for (const char* name :
       {"config.json", "model.safetensors", "vocab.spm", "source.spm", "target.spm"}) {
    struct stat found;
    if (stat(fmt::format("{}/{}", directory, name).c_str(), &found) == 0) {
      stamp += fmt::format("{}.{}.{}.", name, found.st_dev, found.st_ino);
    } else if (stamp.empty()) {
      return "";  // no config.json
    }
  }
  return stamp;
}

// [NAME=]DIRECTORY
std::pair<std::string, std::string> NameAndDirectory(const std::string& given) {
  const size_t equals = given.find('=');
  if (equals == std::string::npos || given.find('/') < equals) return {"", given};
  return {given.substr(0, equals), given.substr(equals + 1)};
}

std::optional<int> Distance(const std::string& asked, const std::string& has) {
  return asked.empty() || LowerCase(asked) == "auto" ? 0 : LanguageDistance(asked, has);
}

std::string Describe(const ServedModel& model) {
  if (model.source().empty()) return model.name();
  return fmt::format("{} ({} to {})", model.name(), model.source(), model.target());
}

}  // namespace

ModelStore::ModelStore(const ServeOptions& options, int threads, Reloaded reloaded)
    : options_(options), pool_(threads), reloaded_(std::move(reloaded)) {
  for (const std::string& given : options_.model) {
    const auto [name, directory] = NameAndDirectory(given);
    const std::string stamp = StampOf(directory);
    entries_.push_back({directory, stamp, stamp,
                        std::make_shared<ServedModel>(name, directory, options_, &pool_)});
    for (size_t i = 0; i + 1 < entries_.size(); ++i) {
      if (entries_[i].model->name() != entries_.back().model->name()) continue;
      throw Error(ErrorKind::kUsage,
                  fmt::format("two models are named '{}', {} and {}; name one with --model "
                              "NAME=DIRECTORY",
                              entries_[i].model->name(), entries_[i].directory, directory));
    }
  }
  watching_ = std::thread([this] { Watch(); });
}

ModelStore::~ModelStore() { Stop(); }

std::vector<std::shared_ptr<ServedModel>> ModelStore::models() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<ServedModel>> all;
  for (const Entry& entry : entries_) all.push_back(entry.model);
  return all;
}

bool ModelStore::HaveRoom() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(entries_,
                             [](const Entry& entry) { return entry.model->queue().HasRoom(); });
}

std::shared_ptr<ServedModel> ModelStore::Find(const std::string& name, const std::string& source,
                                              const std::string& target) const {
  std::vector<std::shared_ptr<ServedModel>> fitting;
  std::vector<std::string> all, found;
  int nearest = std::numeric_limits<int>::max();
  for (auto& model : models()) {
    all.push_back(Describe(*model));
    if (!name.empty() && model->name() != name) continue;
    const auto from = Distance(source, model->source()), to = Distance(target, model->target());
    if (!from || !to || *from + *to > nearest) continue;
    if (*from + *to < nearest) {
      found.clear();
      fitting.clear();
    }
    nearest = *from + *to;
    found.push_back(all.back());
    fitting.push_back(std::move(model));
  }
  const auto alike = [&](const std::shared_ptr<ServedModel>& model) {
    return !model->source().empty() && model->source() == fitting[0]->source() &&
           model->target() == fitting[0]->target();
  };
  if (fitting.size() == 1 || (!fitting.empty() && std::ranges::all_of(fitting, alike))) {
    return fitting[0];
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("{} models fit model '{}', source '{}' and target '{}'; expected one of "
                          "{}",
                          fitting.empty() ? "no" : "several", name, source, target,
                          fmt::join(found.empty() ? all : found, ", ")));
}

void ModelStore::ReloadAll() {
  const std::lock_guard lock(mutex_);
  reload_all_ = true;
  wake_.notify_all();
}

void ModelStore::Watch() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait_for(lock, kLookEvery, [this] { return stopping_ || reload_all_; });
    if (stopping_) return;
    const bool all = std::exchange(reload_all_, false);
    lock.unlock();
    for (size_t i = 0; i < entries_.size(); ++i) {  // only this thread writes them
      std::string stamp = StampOf(entries_[i].directory);
      const bool settled = stamp == std::exchange(entries_[i].seen, stamp);
      const bool changed = settled && !stamp.empty() && stamp != entries_[i].stamp;
      if (all || changed) Reload(i, std::move(stamp));
    }
    FreeRetired();
    lock.lock();
  }
}

void ModelStore::Reload(size_t entry, std::string stamp) {
  const std::string name = entries_[entry].model->name();
  std::string failure;
  std::shared_ptr<ServedModel> model;
  try {
    model = std::make_shared<ServedModel>(name, entries_[entry].directory, options_, &pool_);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  {
    const std::lock_guard lock(mutex_);
    entries_[entry].stamp = std::move(stamp);
    if (model != nullptr) {
      retired_.push_back(std::exchange(entries_[entry].model, std::move(model)));
    }
  }
  reloaded_(name, failure);
}

// Nobody can find a retired model any more: once it is held here alone, it stays so.
void ModelStore::FreeRetired() {
  std::vector<std::shared_ptr<ServedModel>> unused;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  const auto used = [](const std::shared_ptr<ServedModel>& model) { return model.use_count() > 1; };
  const auto first_unused = std::stable_partition(retired_.begin(), retired_.end(), used);
  unused.assign(first_unused, retired_.end());
  retired_.erase(first_unused, retired_.end());
}

void ModelStore::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  if (watching_.joinable()) watching_.join();
  for (const Entry& entry : entries_) entry.model->Stop();
  for (const auto& model : retired_) model->Stop();
}

}  // namespace attend
