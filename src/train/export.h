// From trained weights to a model directory: averages, what the task adds, provenance.
#ifndef ATTEND_TRAIN_EXPORT_H_
#define ATTEND_TRAIN_EXPORT_H_

#include <filesystem>
#include <string>
#include <vector>

#include "base/log.h"
#include "train/checkpoint/train_state.h"

namespace attend {

// What a task is told of the run whose model it completes.
struct ExportedRun {
  const RunIdentity& identity;
  std::filesystem::path checkpoint;  // the last of those averaged, in the run's directory
  std::string where;                 // opens messages about the identity

  std::filesystem::path directory() const {
    return std::filesystem::absolute(checkpoint).lexically_normal().parent_path().parent_path();
  }
};

// What is written, and of what.
struct ExportTarget {
  std::filesystem::path output;
  std::filesystem::path base = {};  // of an adapter; empty: where the run found it
};

// Averages the weights of checkpoint directories of one run (the newest whole one of a run's
// directory, where that is given) and writes a model directory, or of a run that trained an adapter
// an adapter's. Returns the updates of those averaged. Throws Error(kInput) for what is not a
// checkpoint, for checkpoints of several runs, and where the base of an adapter is another.
std::vector<int64_t> ExportCheckpoints(const std::vector<std::filesystem::path>& checkpoints,
                                       const ExportTarget& target, const Log& log);

}  // namespace attend

#endif  // ATTEND_TRAIN_EXPORT_H_
