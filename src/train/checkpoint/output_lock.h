// Keeps a second trainer out of an output directory.
#ifndef ATTEND_TRAIN_CHECKPOINT_OUTPUT_LOCK_H_
#define ATTEND_TRAIN_CHECKPOINT_OUTPUT_LOCK_H_

#include <filesystem>
#include <vector>

namespace attend {

// Locks the directory itself while it lives. The system releases the lock when the process ends,
// even if it is killed, and nothing is left behind. Creates a missing directory; the destructor
// removes it if it is still empty. Throws Error(kRuntime) that names the holder if another process
// has the lock.
class OutputLock {
 public:
  explicit OutputLock(const std::filesystem::path& directory);
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

  // Also locks DIR/lock; call it before the first file is written. Machines on a shared file system
  // see each other's locks on files, but not on directories. The destructor removes the file if the
  // directory has no other. Throws as the constructor.
  void LockFile();

 private:
  void MakeDirectories();
  void Open();
  // Removes the directories that were made, where they are empty.
  void RemoveMade() const;

  std::filesystem::path directory_;
  std::vector<std::filesystem::path> made_;  // the outermost first
  int descriptor_ = -1;                      // of the directory
  int file_ = -1;                            // of DIR/lock
};

}  // namespace attend

#endif  // ATTEND_TRAIN_CHECKPOINT_OUTPUT_LOCK_H_
