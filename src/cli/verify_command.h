// `attend verify`, of both programs.
#ifndef ATTEND_CLI_VERIFY_COMMAND_H_
#define ATTEND_CLI_VERIFY_COMMAND_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/model_directory.h"
#include "model/sample.h"

namespace attend {

// Gives the log-probability of each of target_ids, sample by sample, as LibTorch finds them: of a
// model that the engine does not run.
using ReplayByTorch = std::function<std::vector<std::vector<double>>(
    const Model& model, std::span<const Sample> samples)>;

int Verify(const std::vector<std::string>& arguments, const ReplayByTorch& replay);

}  // namespace attend

#endif  // ATTEND_CLI_VERIFY_COMMAND_H_
