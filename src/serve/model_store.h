// The models of a service, by name and by languages; loaded again as they are replaced: the
// directory as a whole by rename, or its files one by one, each by rename, once no more follow
// within a second. Never to be written over: a model that runs reads its weights from the file as
// it goes.
#ifndef ATTEND_SERVE_MODEL_STORE_H_
#define ATTEND_SERVE_MODEL_STORE_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/work_pool.h"
#include "serve/served_model.h"

namespace attend {

// Safe to use from many threads. A model that was replaced goes on for whoever holds it, and ends
// when nobody does.
class ModelStore {
 public:
  // `reloaded` hears the name of each model that was loaded again, and the error where that failed
  // ("" where not), from the store's thread. Throws as ServedModel does, Error(kUsage) for names
  // that stand twice.
  using Reloaded = std::function<void(const std::string& name, const std::string& error)>;
  ModelStore(const ServeOptions& options, int threads, Reloaded reloaded);
  ~ModelStore();

  std::vector<std::shared_ptr<ServedModel>> models() const;
  // A sentence would find room in the queue of one of them.
  bool HaveRoom() const;
  // What the request means: by name, or by languages ("" and "auto" fit all, en-US fits en where no
  // model has en-US); of several for the same languages the first. Throws Error(kUsage) where none
  // fits, or models of several languages do, with what there is.
  std::shared_ptr<ServedModel> Find(const std::string& name, const std::string& source,
                                    const std::string& target) const;

  // Loads every model again, soon and in the background.
  void ReloadAll();
  // Cancels what is not done, and loads no more.
  void Stop();

 private:
  struct Entry {
    std::string directory;
    std::string stamp;  // of the files that were loaded, or that could not be
    std::string seen;   // at the last look
    std::shared_ptr<ServedModel> model;
  };
  void Watch();
  void Reload(size_t entry, std::string stamp);
  void FreeRetired();

  const ServeOptions options_;
  WorkPool pool_;  // of all models
  const Reloaded reloaded_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Entry> entries_;
  std::vector<std::shared_ptr<ServedModel>> retired_;
  bool reload_all_ = false, stopping_ = false;
  std::thread watching_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_MODEL_STORE_H_
