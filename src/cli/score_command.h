// `attend score`, of both programs.
#ifndef ATTEND_CLI_SCORE_COMMAND_H_
#define ATTEND_CLI_SCORE_COMMAND_H_

#include <string>
#include <vector>

#include "cli/translate_command.h"

namespace attend {

int Score(const std::vector<std::string>& arguments, const RunOnDevice& run_on_device);

}  // namespace attend

#endif  // ATTEND_CLI_SCORE_COMMAND_H_
