#include "serve/model_store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "attend/error.h"
#include "base/failure.h"
#include "model/config_file.h"
#include "serve/language_codes.h"
#include "serve/refusal.h"
#include "serve/tasks/registry.h"
#include "serve/tasks/translation/project.h"
#include "text/ascii.h"

namespace attend {
namespace {

constexpr std::chrono::seconds kLookEvery{1};

// Which files stand at the path now; "" where no model does.
// With `contents` their sizes and times too.
std::string StampOf(const std::string& directory, bool contents = false) {
  std::string stamp;
  for (const char* name : {kConfigFile, kTensorFile, kAdapterFile, kJointVocabularyFile,
                           kSourceVocabularyFile, kTargetVocabularyFile, kGraphFile}) {
    struct stat found;
    if (stat(fmt::format("{}/{}", directory, name).c_str(), &found) == 0) {
      stamp += fmt::format("{}.{}.{}.", name, found.st_dev, found.st_ino);
      if (contents) {
        stamp +=
            fmt::format("{}.{}.{}.", found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
      }
    } else if (stamp.empty()) {
      return "";  // no config.json
    }
  }
  return stamp;
}

// What can't be read yet is taken for a model, which says why.
bool HoldsAdapter(const std::string& directory) {
  std::error_code unknown;
  return std::filesystem::exists(std::filesystem::path(directory) / kAdapterFile, unknown);
}

std::optional<int> Distance(const std::string& asked, const std::string& has) {
  return asked.empty() || LowerCase(asked) == "auto" ? 0 : LanguageDistance(asked, has);
}

[[noreturn]] void RefuseRoute(const ServedModel& model) {
  throw Error(ErrorKind::kUsage,
              fmt::format("the task of the model '{}' is {}; ask it at {}", model.name(),
                          model.config().task, fmt::join(model.routes(), " or ")));
}

std::string Describe(const ServedModel& model) {
  if (model.source().empty()) return model.name();
  return fmt::format("{} ({} to {})", model.name(), model.source(), model.target());
}

// For a request by languages.
const char* HintOf(const std::vector<std::shared_ptr<ServedModel>>& models,
                   const std::string& route) {
  const bool unnamed = std::ranges::any_of(models, [&](const std::shared_ptr<ServedModel>& model) {
    return model->AnswersAt(route) && model->source().empty();
  });
  return unnamed ? "; a model that names no languages is asked for by its name" : "";
}

// "model 'en-de', source 'en'".
std::string Asked(const std::string& name, const std::string& source, const std::string& target) {
  std::string asked;
  for (const auto& [option, value] :
       {std::pair("model", &name), std::pair("source", &source), std::pair("target", &target)})
    if (!value->empty())
      asked += fmt::format("{}{} '{}'", asked.empty() ? "" : ", ", option, *value);
  return asked.empty() ? "a request that names none" : asked;
}

}  // namespace

ModelStore::ModelStore(const ServeOptions& options, int threads, Changed changed)
    : options_(options), pool_(threads), changed_(std::move(changed)) {
  for (const std::string& given : options_.model) AddGiven(given, /*adapter=*/false);
  if (!options_.models_dir.empty()) {
    if (!std::filesystem::is_directory(options_.models_dir)) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("models_dir is '{}', expected a directory", options_.models_dir));
    }
    LookForModels(true);
  } else {
    CheckNames("shortlist", options_.shortlist);
    CheckNames("estimator", options_.estimator);
  }
  for (const std::string& given : options_.adapter) AddGiven(given, /*adapter=*/true);
  if (!options_.projects.empty()) LookForModels(true);
  watching_ = std::thread([this] { Watch(); });
}

void ModelStore::AddGiven(const std::string& given, bool adapter) {
  const auto [name, directory] = NameAndPath(given);
  const std::string stamp = StampOf(directory);
  Add({directory, stamp, stamp, Make(name, directory, adapter)});
}

std::shared_ptr<ServedModel> ModelStore::Make(const std::string& name, const std::string& directory,
                                              bool adapter) {
  if (!adapter)
    return ServeModel({name, directory, Load(directory, options_.load)}, options_, &pool_);
  const std::shared_ptr<const Adapter> loaded = LoadAdapter(directory);
  const std::string own = ModelOfProject(directory);  // of equal models it is the project's
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    if (!entry.model->whole() || !IsBase(*entry.model->loaded()->stored, *loaded)) continue;
    if (found == nullptr || entry.model->name() == own) found = &entry;
  }
  if (found != nullptr) {
    const std::shared_ptr<const LoadedModel>& base = found->model->loaded();
    return ServeModel({name, directory, std::make_shared<LoadedModel>(base, loaded, directory),
                       found->model->name()},
                      options_, &pool_);
  }
  throw Error(ErrorKind::kInput,
              fmt::format("{}: none of the models served is the one that the adapter was trained "
                          "on, or was quantized from it: no weights have SHA-256 {}",
                          directory, loaded->facts.base_sha256));
}

void ModelStore::Add(Entry entry) {
  const std::lock_guard lock(mutex_);
  for (const Entry& other : entries_) {
    if (other.model->name() != entry.model->name()) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("two models are named '{}', {} and {}; name one with --model "
                            "NAME=DIRECTORY",
                            other.model->name(), other.directory, entry.directory));
  }
  entries_.push_back(std::move(entry));
}

void ModelStore::CheckNames(const char* option, const std::vector<std::string>& all) const {
  for (const std::string& given : all) {
    const std::string name = NameAndPath(given).first;
    const bool known = std::ranges::any_of(
        entries_, [&](const Entry& entry) { return name.empty() || entry.model->name() == name; });
    if (known) continue;
    std::vector<std::string> names;
    for (const Entry& entry : entries_) names.push_back(entry.model->name());
    throw Error(ErrorKind::kUsage,
                fmt::format("{} is '{}', but no model is named '{}', expected one of {}", option,
                            given, name, fmt::join(names, ", ")));
  }
}

bool ModelStore::ReadDirectories(std::map<std::string, std::string>* directories) const {
  const auto read = [&](const std::string& directory, const char* inner) {
    std::error_code failed;
    for (std::filesystem::directory_iterator i(directory, failed), end; !failed && i != end;
         i.increment(failed)) {
      const std::string name = i->path().filename().string();
      if (!name.starts_with('.')) directories->emplace(i->path().string() + inner, name);
    }
    return !failed;
  };
  return (options_.models_dir.empty() || read(options_.models_dir, "")) &&
         (options_.projects.empty() || read(options_.projects, "/current"));
}

void ModelStore::LookForModels(bool at_once) {
  std::map<std::string, std::string> directories;
  if (!ReadDirectories(&directories)) return;   // not to be taken for an empty one
  for (size_t i = entries_.size(); i-- > 0;) {  // only this thread writes them
    const Entry& entry = entries_[i];
    if (!entry.found) continue;
    const bool there = !StampOf(entry.directory).empty();
    directories.erase(entry.directory);
    if (there) continue;
    const std::string name = entry.model->name();
    {
      const std::lock_guard lock(mutex_);
      retired_.push_back(entries_[i].model);
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    changed_("unload", name, "");
  }
  std::erase_if(candidates_, [&](const auto& one) { return !directories.contains(one.first); });
  LoadCandidates(directories, at_once);
}

void ModelStore::LoadCandidates(const std::map<std::string, std::string>& directories,
                                bool at_once) {
  for (const bool adapters : {false, true}) {
    const bool again = adapters && std::exchange(new_models_, false);
    for (const auto& [directory, name] : directories) {
      if (HoldsAdapter(directory) != adapters) continue;
      Candidate& candidate = candidates_[directory];
      const std::string stamp = StampOf(directory, true);
      const bool settled = at_once || stamp == candidate.seen;
      candidate.seen = stamp;
      if (settled && !stamp.empty() && (again || stamp != candidate.failed))
        LoadNew(name, directory, &candidate);
    }
  }
}

void ModelStore::LoadNew(const std::string& name, const std::string& directory,
                         Candidate* candidate) {
  std::string failure, loaded = name;
  const bool adapter = HoldsAdapter(directory);
  try {
    const std::string stamp = StampOf(directory, true);
    const std::shared_ptr<ServedModel> model = Make(name, directory, adapter);
    loaded = model->name();
    Add({directory, stamp, stamp, model, true});
    new_models_ |= !adapter;
  } catch (const std::exception& error) {
    failure = MessageOf(error);
    candidate->failed = candidate->seen;
  }
  changed_("load", loaded, failure);
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
  return entries_.empty() ||  // which Find tells
         std::ranges::any_of(entries_, [](const Entry& entry) { return entry.model->HasRoom(); });
}

std::shared_ptr<ServedModel> ModelStore::Find(const std::string& route, const std::string& name,
                                              const std::string& source, const std::string& target,
                                              const std::string& path) const {
  std::vector<std::shared_ptr<ServedModel>> fitting;
  bool known = name.empty();
  std::vector<std::string> all, found;
  int nearest = std::numeric_limits<int>::max();
  const auto there = models();
  const bool whole = std::ranges::any_of(there, [&](const std::shared_ptr<ServedModel>& model) {
    return model->whole() && model->AnswersAt(route);
  });
  for (const auto& model : there) {
    const bool answers = model->AnswersAt(route);
    if (answers) all.push_back(Describe(*model));
    if (name.empty() ? !answers || (whole && !model->whole()) : model->name() != name) continue;
    if (!answers) RefuseRoute(*model);
    known = true;
    const auto from = Distance(source, model->source()), to = Distance(target, model->target());
    if (!from || !to || *from + *to > nearest) continue;
    if (*from + *to < nearest) {
      found.clear();
      fitting.clear();
    }
    nearest = *from + *to;
    found.push_back(Describe(*model));
    fitting.push_back(model);
  }
  const auto alike = [&](const std::shared_ptr<ServedModel>& model) {
    return !model->source().empty() && model->source() == fitting[0]->source() &&
           model->target() == fitting[0]->target();
  };
  if (fitting.size() == 1 || (!fitting.empty() && std::ranges::all_of(fitting, alike))) {
    return fitting[0];
  }
  const auto refuse = [&](const std::string& message) {
    if (!known) throw UnknownModel(message);
    throw Error(ErrorKind::kUsage, message);
  };
  if (all.empty())
    refuse(fmt::format("there is no model for {} at the moment", path.empty() ? route : path));
  refuse(fmt::format(
      "{} {}; expected one of {}{}", fitting.empty() ? "no model fits" : "several models fit",
      Asked(name, source, target), fmt::join(found.empty() ? all : found, ", "),
      name.empty() && !(source.empty() && target.empty()) ? HintOf(there, route) : ""));
  return nullptr;  // not reached
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
    if (!options_.models_dir.empty() || !options_.projects.empty()) LookForModels(false);
    ReloadChanged(all);
    FreeRetired();
    lock.lock();
  }
}

void ModelStore::ReloadChanged(bool all) {
  std::set<std::string> renewed;  // models whose adapters follow them
  for (const bool whole : {true, false}) {
    for (size_t i = 0; i < entries_.size(); ++i) {  // only this thread writes them
      if (entries_[i].model->whole() != whole) continue;
      std::string stamp = StampOf(entries_[i].directory, entries_[i].found);
      const bool settled = stamp == std::exchange(entries_[i].seen, stamp);
      const bool changed = settled && !stamp.empty() && stamp != entries_[i].stamp;
      if (!all && !changed && !renewed.contains(entries_[i].model->base())) continue;
      if (!Reload(i, std::move(stamp)) || !whole) continue;
      renewed.insert(entries_[i].model->name());
      new_models_ = true;
    }
  }
}

bool ModelStore::Reload(size_t entry, std::string stamp) {
  const ServedModel& old = *entries_[entry].model;
  const std::string name = old.name();
  const std::string own = old.whole() ? name : name.substr(old.base().size() + 1);
  std::string failure;
  std::shared_ptr<ServedModel> model;
  try {
    model = Make(own, entries_[entry].directory, !old.whole());
  } catch (const std::exception& error) {
    failure = MessageOf(error);
  }
  {
    const std::lock_guard lock(mutex_);
    entries_[entry].stamp = std::move(stamp);
    if (model != nullptr) {
      retired_.push_back(std::exchange(entries_[entry].model, std::move(model)));
    }
  }
  changed_("reload", name, failure);
  return failure.empty();
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
