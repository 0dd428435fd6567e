// Keeps a second trainer out of an output directory.
#ifndef ATTEND_TRAIN_OUTPUT_LOCK_H_
#define ATTEND_TRAIN_OUTPUT_LOCK_H_

#include <filesystem>
#include <vector>

namespace attend {

// Locks the directory itself while it lives; the system lets go when the process ends, however it
// ends, and nothing is left of the lock. The directory is made where it is missing; where nothing
// came into it, the destructor removes what was made. Throws Error(kRuntime) naming the holder
// where another process holds it.
class OutputLock {
 public:
  explicit OutputLock(const std::filesystem::path& directory);
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

  // Locks DIR/lock too, before the first file is written: machines that share a file system see
  // each other's locks of files, not of directories. The destructor removes the file where it is
  // alone. Throws as the constructor.
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

#endif  // ATTEND_TRAIN_OUTPUT_LOCK_H_
