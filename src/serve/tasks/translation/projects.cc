#include "serve/tasks/translation/projects.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <optional>
#include <utility>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/failure.h"
#include "base/files.h"
#include "base/process.h"
#include "serve/refusal.h"
#include "serve/tasks/translation/background_process.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::milliseconds kLookEvery{50};
constexpr int64_t kMostVersions = 100;  // of a project; older ones go
// Chosen on held-out halves of documents by bench/adaptation.py.
constexpr const char* kRecipe = R"(adapter.rank = 8
adapter.matrices = "all"
dropout = 0.1
label_smoothing = 0.1
batch_tokens = 512
schedule = "inverse_sqrt"
peak_learning_rate = 0.003
warmup_updates = 10
max_updates = 60
clip_norm = 1.0
)";

std::chrono::steady_clock::duration SecondsOf(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds));
}

fs::path TrainingProgram() { return OwnProgram().parent_path() / "attend-train"; }

// Why nothing can be trained here, or "".
std::string WhyNoTraining() {
  const fs::path program = TrainingProgram();
  std::error_code none;
  if (fs::exists(program, none)) return "";
  return fmt::format(
      "training needs the program attend-train, which is not at '{}'; install the package "
      "attend-train, or build both programs with `make build`",
      program.string());
}

// The last line of the log that says something.
std::string LastLine(const fs::path& log) {
  std::string text = ReadFile(log);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return Excerpt(text.substr(text.rfind('\n') + 1), 500);
}

void WriteText(const fs::path& folder, const std::vector<Correction>& corrections) {
  std::string sources, targets;
  for (const Correction& one : corrections) {
    sources += one.source + '\n';
    targets += one.target + '\n';
  }
  WriteFileSynced(folder / "source.txt", sources);
  WriteFileSynced(folder / "target.txt", targets);
}

std::vector<std::string> TrainingCommand(const ServeOptions& options, const fs::path& folder,
                                         const std::string& base) {
  std::string recipe = options.adaptation_recipe;
  if (recipe.empty()) {
    recipe = (folder / "recipe.toml").string();
    WriteFileSynced(recipe, kRecipe);
  }
  constexpr const char* kNever = "1000000000";
  return {TrainingProgram().string(),
          "train",
          "--config",
          fs::absolute(recipe).string(),
          "--init",
          fs::absolute(base).string(),
          "--output",
          (folder / "run").string(),
          "--train-source",
          (folder / "source.txt").string(),
          "--train-target",
          (folder / "target.txt").string(),
          "--threads",
          "1",
          "--worker-threads",
          "1",
          "--validate-every",
          kNever,
          "--checkpoint-every",
          kNever,
          "--quiet"};
}

}  // namespace

bool Projects::Entry::Waits() const {
  return project != nullptr && !training &&
         project->corrections() > std::max(project->trained(), tried);
}

Projects::Projects(const ServeOptions& options, const ModelStore& models, WriteEvent write_event)
    : options_(options), models_(models), write_event_(std::move(write_event)) {
  if (!fs::is_directory(options.projects)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("projects is '{}', expected a directory", options.projects));
  }
  const std::string& recipe = options.adaptation_recipe;
  if (!recipe.empty() && !fs::is_regular_file(recipe)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("adaptation_recipe is '{}', expected a file", recipe));
  }
  lock_ = std::make_unique<DirectoryLock>(options.projects);
  RemoveLeftovers(options.projects);
  OpenAll();
  thread_ = std::thread([this] { Work(); });
}

void Projects::OpenAll() {
  for (const auto& found : fs::directory_iterator(options_.projects)) {
    const std::string name = found.path().filename().string();
    if (!IsProjectName(name)) continue;
    Entry& entry = entries_[name];
    try {
      entry.project = std::make_unique<Project>(found.path());
    } catch (const std::exception& error) {
      entry.error = fmt::format("the project is damaged: {}", MessageOf(error));
    }
  }
}

Projects::~Projects() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  thread_.join();
}

const Projects::Entry& Projects::Find(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end() || found->second.removed)
    throw Refusal(404,
                  fmt::format("there is no project '{}'; /v1/projects lists them", Excerpt(name)));
  return found->second;
}

Projects::Entry& Projects::Known(const std::string& name) {
  Find(name);
  return entries_.at(name);
}

void Projects::CheckWhole(const std::string& name, const Entry& entry) {
  if (entry.project != nullptr) return;
  throw Error(ErrorKind::kInput,
              fmt::format("project '{}' can't be used until it is mended and the "
                          "service starts again, or deleted: {}",
                          name, entry.error));
}

void Projects::CheckName(const std::string& name, const std::string& model) const {
  for (const auto& served : models_.models()) {
    if (served->name() != name && served->name() != fmt::format("{}/{}", model, name)) continue;
    throw Error(ErrorKind::kUsage, fmt::format("a model is named '{}' already; give the project "
                                               "another name",
                                               served->name()));
  }
}

Json Projects::Add(const std::string& name, const std::string& model,
                   const std::vector<Correction>& corrections) {
  const auto refuse = [](const std::string& message) { throw Error(ErrorKind::kUsage, message); };
  if (!IsProjectName(name)) {
    refuse(
        fmt::format("project is '{}', expected up to 64 letters, digits and . _ -, first a "
                    "letter or digit",
                    Excerpt(name)));
  }
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    if (std::ssize(entries_) >= options_.max_projects)
      refuse(fmt::format("there are {} projects already, the most here", entries_.size()));
    CheckName(name, model);
    auto made = std::make_unique<Project>(fs::path(options_.projects) / name, model);
    entries_[name].project = std::move(made);
  }
  Entry& entry = entries_[name];
  if (entry.removed) refuse(fmt::format("project '{}' is being deleted; try again later", name));
  CheckWhole(name, entry);
  const Project& project = *entry.project;
  if (project.model() != model) {
    refuse(
        fmt::format("project '{}' is for the model '{}', and the request's is '{}'; take another "
                    "project",
                    name, project.model(), model));
  }
  if (project.corrections() + std::ssize(corrections) > options_.max_corrections) {
    refuse(
        fmt::format("project '{}' has {} corrections, expected at most {} with the {} of this "
                    "request; begin another project",
                    name, project.corrections(), options_.max_corrections, corrections.size()));
  }
  entry.project->Add(corrections);
  entry.last = Clock::now();
  wake_.notify_all();
  return StateOf(name, entry);
}

Json Projects::Serve(const std::string& name, int64_t version) {
  const std::lock_guard lock(mutex_);
  Entry& entry = Known(name);
  CheckWhole(name, entry);
  entry.project->Serve(version);
  return StateOf(name, entry);
}

void Projects::Remove(const std::string& name) {
  std::unique_lock lock(mutex_);
  Entry& entry = Known(name);
  entry.removed = true;  // which ends its training
  wake_.notify_all();
  wake_.wait(lock, [&] { return !entry.training; });
  entry.project.reset();
  RemoveWhole(fs::path(options_.projects) / name);
  entries_.erase(name);
}

Json Projects::State(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return StateOf(name, Find(name));
}

Json Projects::States() const {
  const std::lock_guard lock(mutex_);
  Json states = Json::array();
  for (const auto& [name, entry] : entries_) {
    if (!entry.removed) states.push_back(StateOf(name, entry));
  }
  return {{"projects", std::move(states)}};
}

Json Projects::StateOf(const std::string& name, const Entry& entry) const {
  if (entry.project == nullptr) {
    return {{"name", name},       {"model", ""},         {"served_as", ""},
            {"corrections", 0},   {"current", 0},        {"versions", Json::array()},
            {"state", "damaged"}, {"error", entry.error}};
  }
  const Project& project = *entry.project;
  Json versions = Json::array();
  for (ProjectVersion version : project.versions()) {
    Json one{{"version", version.number}};
    one.update(FieldsToJson(Fields(version)));
    versions.push_back(std::move(one));
  }
  Json json{{"name", name}, {"model", project.model()}};
  json["served_as"] = fmt::format("{}/{}", project.model(), name);
  json["corrections"] = project.corrections();
  json["current"] = project.current();
  json["versions"] = std::move(versions);
  json["state"] = entry.training ? "training" : entry.Waits() ? "waiting" : "idle";
  const std::string error = entry.error.empty() ? WhyNoTraining() : entry.error;
  if (!error.empty()) json["error"] = error;
  return json;
}

void Projects::Work() {
  const auto pause = SecondsOf(options_.adaptation_pause);
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    std::optional<Clock::time_point> next;
    std::string due;
    for (const auto& [name, entry] : entries_) {
      if (entry.removed || !entry.Waits()) continue;
      if (next && *next <= entry.last + pause) continue;
      next = entry.last + pause;
      due = name;
    }
    if (next && *next <= Clock::now()) {
      Train(due, &lock);
    } else if (next) {
      wake_.wait_until(lock, *next);
    } else {
      wake_.wait(lock);
    }
  }
}

std::string Projects::BaseOf(const std::string& model) const {
  for (const auto& served : models_.models()) {
    if (served->name() == model && served->whole()) return served->directory();
  }
  throw Error(ErrorKind::kInput, fmt::format("the model '{}' is not served any more", model));
}

void Projects::Train(const std::string& name, std::unique_lock<std::mutex>* lock) {
  Entry& entry = entries_.at(name);
  const fs::path folder = entry.project->training();
  ProjectVersion version{.corrections = entry.project->corrections()};
  const Clock::time_point start = Clock::now();
  entry.training = true;
  try {
    fs::remove_all(folder);
    fs::create_directory(folder);
    entry.error = RunTraining(folder, BaseOf(entry.project->model()), entry, lock);
    version.finished = std::time(nullptr);
    version.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (entry.error.empty() && !stopping_ && !entry.removed)
      entry.project->AddVersion(folder / "run" / "adapter", version, kMostVersions);
  } catch (const std::exception& error) {
    entry.error = MessageOf(error);
  }
  if (!entry.error.empty()) entry.tried = version.corrections;
  Json told{{"project", name}, {"corrections", version.corrections}, {"seconds", version.seconds}};
  if (!entry.error.empty()) told["error"] = entry.error;
  if (!stopping_) write_event_("adapted", told, !entry.error.empty());
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  entry.training = false;
  wake_.notify_all();  // who waits to remove it
}

std::string Projects::RunTraining(const fs::path& folder, const std::string& base,
                                  const Entry& entry, std::unique_lock<std::mutex>* lock) {
  if (std::string why = WhyNoTraining(); !why.empty()) return why;
  WriteText(folder, entry.project->Read());
  const fs::path log = folder / "log";
  BackgroundProcess process(TrainingCommand(options_, folder, base), log);
  const Clock::time_point end = Clock::now() + SecondsOf(options_.adaptation_timeout);
  while (!stopping_ && !entry.removed) {
    if (Clock::now() > end) {
      return fmt::format("training took more than {} s and was ended; see adaptation_timeout",
                         options_.adaptation_timeout);
    }
    if (const auto status = process.Status()) {
      return *status == 0
                 ? ""
                 : fmt::format("training ended with status {}: {}", *status, LastLine(log));
    }
    wake_.wait_for(*lock, kLookEvery);
  }
  return "";
}

}  // namespace attend
