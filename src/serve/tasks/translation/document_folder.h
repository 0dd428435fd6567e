// A temporary folder for one document, which goes with its owner: at the latest when another
// service starts, if its own process was killed. A lock (flock) on the folder tells that its
// process lives.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_DOCUMENT_FOLDER_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_DOCUMENT_FOLDER_H_

#include <filesystem>

namespace attend {

class DocumentFolder {
 public:
  // Throws Error(kRuntime) where none can be made.
  DocumentFolder();
  ~DocumentFolder();
  DocumentFolder(const DocumentFolder&) = delete;
  DocumentFolder& operator=(const DocumentFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Early; it is gone then.
  void Remove();

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

// Removes those that processes of this user left behind, in the folder for temporary files.
void RemoveLeftFolders();

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_DOCUMENT_FOLDER_H_
