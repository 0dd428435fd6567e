// The models of a service, by name and by languages; loaded again as they are replaced: the
// directory as a whole by rename, or its files one by one, each by rename, once no more follow
// within a second. Never to be written over: a model that runs reads its weights from the file as
// it goes. Directories that come to models_dir are loaded once their files stay as they are for a
// second; where that fails, as for one that is copied in part, again once they change.
#ifndef ATTEND_SERVE_MODEL_STORE_H_
#define ATTEND_SERVE_MODEL_STORE_H_

#include <condition_variable>
#include <functional>
#include <map>
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
  // `changed` hears of each model that was loaded again ("reload"), came ("load") or went
  // ("unload"), and the error where that failed ("" where not), from the store's thread, or the
  // constructor's. Throws as ServedModel does for --model's, Error(kUsage) for names that stand
  // twice, a shortlist of no model, and where models_dir can't be read.
  using Changed =
      std::function<void(const char* event, const std::string& name, const std::string& error)>;
  ModelStore(const ServeOptions& options, int threads, Changed changed);
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
    bool found = false;  // in models_dir
  };
  // A directory of models_dir that is no model, or not yet.
  struct Candidate {
    std::string seen, failed;  // stamps, of its files' sizes and times too
  };
  void Add(Entry entry);
  void CheckShortlists() const;
  // Loads what is new in models_dir, and lets go of what is not there any more. With `at_once`
  // nobody waits for files to settle.
  void LookForModels(bool at_once);
  void Load(const std::string& name, const std::string& directory, Candidate* candidate);
  void Watch();
  void Reload(size_t entry, std::string stamp);
  void FreeRetired();

  const ServeOptions options_;
  WorkPool pool_;  // of all models
  const Changed changed_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Entry> entries_;
  std::map<std::string, Candidate> candidates_;  // the watching thread's
  std::vector<std::shared_ptr<ServedModel>> retired_;
  bool reload_all_ = false, stopping_ = false;
  std::thread watching_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_MODEL_STORE_H_
