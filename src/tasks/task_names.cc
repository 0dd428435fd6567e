#include "tasks/task_names.h"

#include <fmt/format.h>

#include "attend/error.h"

namespace attend {

std::string RightCommand(const ModelConfig& config) {
  for (const TaskName& name : kTaskNames)
    if (config.task == name.task) return fmt::format("; run it with `attend {}`", name.command);
  return "";
}

void CheckTask(const ModelConfig& config, const std::string& task) {
  if (config.task == task) return;
  throw Error(ErrorKind::kUsage, fmt::format("the model's task is {}, expected {}{}", config.task,
                                             task, RightCommand(config)));
}

}  // namespace attend
