// Starts attend-train, which stands beside the program without LibTorch.
#ifndef ATTEND_CLI_TRAIN_LAUNCHER_H_
#define ATTEND_CLI_TRAIN_LAUNCHER_H_

#include <string>
#include <vector>

namespace attend {

// Becomes `attend-train COMMAND ARGUMENTS` and does not return. Throws Error(kUsage) where the
// program is missing, Error(kRuntime) where it can't be started.
[[noreturn]] void StartAttendTrain(const std::string& command,
                                   const std::vector<std::string>& arguments);

}  // namespace attend

#endif  // ATTEND_CLI_TRAIN_LAUNCHER_H_
