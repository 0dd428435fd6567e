// Keeps a second trainer out of an output directory.
#ifndef ATTEND_TRAIN_OUTPUT_LOCK_H_
#define ATTEND_TRAIN_OUTPUT_LOCK_H_

#include <filesystem>

namespace attend {

// Holds DIR/lock while it lives; the system lets go when the process ends, however it ends. The
// directory is made where it is missing. Throws Error(kRuntime) naming the holder where another
// process holds it.
class OutputLock {
 public:
  explicit OutputLock(const std::filesystem::path& directory);
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace attend

#endif  // ATTEND_TRAIN_OUTPUT_LOCK_H_
