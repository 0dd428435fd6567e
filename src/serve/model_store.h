// The models of a service and their adapters, by name and by languages. It reloads a model that is
// replaced by rename: the whole directory, or its files one by one, once none has followed for a
// second. Never write over a model's files: a running model reads its weights from them. New
// directories in models_dir are loaded once their files have not changed for a second. If that
// fails, as for an incomplete copy, the store tries again when they change. The adapters that
// projects link to as `current` are found and replaced likewise. A model that is loaded
// anew takes its adapters along.
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
#include "serve/serve_options.h"
#include "serve/served_model.h"

namespace attend {

// Safe to use from many threads. A model that was replaced goes on for whoever holds it, and ends
// when nobody does.
class ModelStore {
 public:
  // `changed` is called for each model that is reloaded ("reload"), new ("load") or gone
  // ("unload"), with the error if that failed, else "". It runs on the store's thread or in the
  // constructor. Throws as Load and ServeModel do for what --model and --adapter name;
  // Error(kUsage) for a name that is used twice, a shortlist or an estimator of an unknown model,
  // and a models_dir that can't be read.
  using Changed =
      std::function<void(const char* event, const std::string& name, const std::string& error)>;
  ModelStore(const ServeOptions& options, int threads, Changed changed);
  ~ModelStore();

  std::vector<std::shared_ptr<ServedModel>> models() const;
  // One of them has room for one more to wait.
  bool HaveRoom() const;
  // The model that a request at a route means, by name or by languages; the first, if several have
  // the same languages. "" and "auto" match all; en-US matches en if no model has en-US. If none
  // matches, or models of different languages do, throws Error(kUsage) that lists the route's
  // models, UnknownModel where none has the name; for a model that answers elsewhere, an Error that
  // says where. An adapter is not meant by who names none, where a whole model is. `path`: what the
  // client calls the route, if it has more than one name.
  std::shared_ptr<ServedModel> Find(const std::string& route, const std::string& name,
                                    const std::string& source = "", const std::string& target = "",
                                    const std::string& path = "") const;

  // Loads every model again, soon and in the background.
  void ReloadAll();
  // Cancels unfinished work, and loads no more models.
  void Stop();

 private:
  struct Entry {
    std::string directory;
    std::string stamp;  // of the files that were loaded, or that could not be
    std::string seen;   // at the last look
    std::shared_ptr<ServedModel> model;
    bool found = false;  // in models_dir, or a project's
  };
  // A directory of models_dir or of a project that is no model, or not yet.
  struct Candidate {
    std::string seen, failed;  // stamps, of its files' sizes and times too
  };
  // Loads the model, or the adapter of one of the entries. `name` empty: by the languages, or else
  // by the directory.
  std::shared_ptr<ServedModel> Make(const std::string& name, const std::string& directory,
                                    bool adapter);
  void AddGiven(const std::string& given, bool adapter);
  void Add(Entry entry);
  // What is given for models by their names, such as shortlists.
  void CheckNames(const char* option, const std::vector<std::string>& all) const;
  // The names of the directories of models_dir, and of the adapters of projects, by their paths.
  // False where they can't be read.
  bool ReadDirectories(std::map<std::string, std::string>* directories) const;
  // Loads what is new among them, and lets go of what is not there any more. With `at_once`
  // nobody waits for files to settle.
  void LookForModels(bool at_once);
  void LoadNew(const std::string& name, const std::string& directory, Candidate* candidate);
  // Models that stand there before their adapters, as they are loaded.
  void LoadCandidates(const std::map<std::string, std::string>& directories, bool at_once);
  void Watch();
  void ReloadChanged(bool all);
  // Returns whether another model stands there now.
  bool Reload(size_t entry, std::string stamp);
  void FreeRetired();

  const ServeOptions options_;
  WorkPool pool_;  // of all models
  const Changed changed_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Entry> entries_;
  // The watching thread's.
  std::map<std::string, Candidate> candidates_;  // by their paths
  bool new_models_ = false;  // that adapters among the candidates may have waited for
  std::vector<std::shared_ptr<ServedModel>> retired_;
  bool reload_all_ = false, stopping_ = false;
  std::thread watching_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_MODEL_STORE_H_
