// Projects learn from corrections while the service works: a low-rank adapter of the project's
// model is trained in the background, by the program attend-train, and served as MODEL/PROJECT.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_PROJECTS_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_PROJECTS_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "serve/model_store.h"
#include "serve/serve_options.h"
#include "serve/task_handler.h"
#include "serve/tasks/translation/project.h"

namespace attend {

// Safe to use from many threads. One training runs at a time, as the work of one thread that the
// processors are left for; a service that ends, however it does, ends it too, and the next one
// begins it anew.
class Projects {
 public:
  // Opens those that options.projects has; a damaged one has an error for its state. The models
  // must outlive it. Throws Error(kUsage) where it is no directory, or another process has it.
  Projects(const ServeOptions& options, const ModelStore& models, WriteEvent write_event);
  ~Projects();

  // Keeps the corrections; they are on disk when this returns. A new project adapts the model of
  // this name. Returns what State does. Throws Error(kUsage) for a name that is none, for more
  // corrections than max_corrections, for another model than the project's and for more projects
  // than max_projects.
  Json Add(const std::string& name, const std::string& model,
           const std::vector<Correction>& corrections);
  // Serves a version; 0: none. Throws Refusal 404 for a project that is not there, Error(kUsage)
  // for such a version.
  Json Serve(const std::string& name, int64_t version);
  // Forgets it: corrections, adapters and all. Throws Refusal 404.
  void Remove(const std::string& name);
  // {"name", "model", "served_as", "corrections", "current", "versions", "state", "error"}. Throws
  // Refusal 404.
  Json State(const std::string& name) const;
  Json States() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    std::unique_ptr<Project> project;  // null: damaged, `error` says how
    Clock::time_point last;            // when a correction came
    int64_t tried = 0;                 // corrections of the training that failed last
    std::string error;                 // why it failed, or what is damaged
    bool training = false;
    bool removed = false;  // while it is trained
    // There is something to learn.
    bool Waits() const;
  };
  using Entries = std::map<std::string, Entry>;

  const Entry& Find(const std::string& name) const;
  Entry& Known(const std::string& name);
  // Throws Error(kInput) for a damaged one.
  static void CheckWhole(const std::string& name, const Entry& entry);
  // Throws Error(kUsage) where a model has the name that a new project would be served as.
  void CheckName(const std::string& name, const std::string& model) const;
  Json StateOf(const std::string& name, const Entry& entry) const;
  // The training thread. They hold the lock but while they wait for the program.
  void Work();
  void Train(const std::string& name, std::unique_lock<std::mutex>* lock);
  // What is wrong, or "": the adapter is there.
  std::string RunTraining(const std::filesystem::path& folder, const std::string& base,
                          const Entry& entry, std::unique_lock<std::mutex>* lock);
  std::string BaseOf(const std::string& model) const;  // its directory

  // Opens what the directory has. Of a damaged project stays what is wrong with it.
  void OpenAll();

  const ServeOptions& options_;
  const ModelStore& models_;
  const WriteEvent write_event_;
  std::unique_ptr<DirectoryLock> lock_;  // of options_.projects
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Entries entries_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_PROJECTS_H_
