// The files of one project: its corrections and the adapters that were trained on them.
//
// DIRECTORY/project.json names the model that the project adapts; corrections.jsonl has a line for
// each correction and only grows; versions/N/ has an adapter and version.json, which says what it
// was trained on; `current` is a link to the adapter that is served. Each appears whole or not at
// all.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_PROJECT_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_PROJECT_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/files.h"

namespace attend {

struct Correction {
  std::string source, target;  // one line each
};

struct ProjectVersion {
  int64_t number = 0;       // from 1
  int64_t corrections = 0;  // those that there were when its training began
  int64_t finished = 0;     // seconds since 1970
  double seconds = 0;       // that its training took
};
// All but the number.
FieldList Fields(ProjectVersion& version);

// Letters and digits, and from the second character on . _ - too; at most 64 characters, and not at
// the end what ends the names of temporary files.
bool IsProjectName(const std::string& name);

// The model of the project that serves this adapter; "" for what is no project's.
std::string ModelOfProject(const std::filesystem::path& adapter);

// Removes what a killed service left half made or half removed among the projects of a directory,
// or the versions of a project.
void RemoveLeftovers(const std::filesystem::path& directory);
// Removes a project that is not open, whatever its state, or a version.
void RemoveWhole(const std::filesystem::path& directory);

// One owner; not thread-safe. Throws Error as base/files.h.
class Project {
 public:
  // A new project for the model of this name. Throws Error(kUsage) where there is something.
  Project(const std::filesystem::path& directory, const std::string& model);
  // One that is there. A last line that a killed writer cut is removed. Throws Error(kInput) for a
  // damaged file.
  explicit Project(const std::filesystem::path& directory);

  const std::string& model() const { return model_; }
  const std::filesystem::path& directory() const { return directory_; }
  int64_t corrections() const { return corrections_; }
  // By number.
  const std::vector<ProjectVersion>& versions() const { return versions_; }
  int64_t current() const;  // number of the version that is served; 0: none, the model alone
  // Corrections that the newest version was trained on.
  int64_t trained() const { return versions_.empty() ? 0 : versions_.back().corrections; }

  // They are on disk when this returns.
  void Add(const std::vector<Correction>& corrections);
  // The last correction of each source, in the order of these.
  std::vector<Correction> Read() const;
  // Takes the adapter over as a new version, which is served from now on. The oldest versions
  // beyond `most` go.
  void AddVersion(const std::filesystem::path& adapter, ProjectVersion facts, int64_t most);
  // Serves this version; 0: none. Throws Error(kUsage) for one that is not there.
  void Serve(int64_t version);

  // Where it is trained; removed when a project is opened.
  std::filesystem::path training() const { return directory_ / ".training"; }

 private:
  void Open();
  std::filesystem::path PathOf(int64_t version) const;
  void ReadVersions();

  const std::filesystem::path directory_;
  std::string model_;
  std::unique_ptr<GrowingFile> log_;
  int64_t corrections_ = 0;
  std::vector<ProjectVersion> versions_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_PROJECT_H_
