// Keeps a second trainer out of an output directory.
#ifndef ATTEND_TRAIN_OUTPUT_LOCK_H_
#define ATTEND_TRAIN_OUTPUT_LOCK_H_

#include <filesystem>
#include <vector>

namespace attend {

// Holds DIR/lock while it lives; the system lets go when the process ends, however it ends. The
// directory is made where it is missing; where nothing else came into it, the destructor removes
// the lock and what was made for it. Throws Error(kRuntime) naming the holder where another process
// holds it.
class OutputLock {
 public:
  explicit OutputLock(const std::filesystem::path& directory);
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

 private:
  void MakeDirectories(const std::filesystem::path& directory);
  void Take();
  void WriteHolder();
  // Removes the lock where nothing else stands beside it.
  void RemoveAlone() const;
  // Removes the directories that were made, where they are empty.
  void RemoveMade() const;
  // The path still names what is locked: another start may have removed it before we had it.
  bool IsCurrent() const;

  std::filesystem::path path_;
  std::vector<std::filesystem::path> made_;  // directories, the outermost first
  int descriptor_ = -1;
};

}  // namespace attend

#endif  // ATTEND_TRAIN_OUTPUT_LOCK_H_
