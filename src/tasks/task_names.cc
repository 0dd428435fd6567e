#include "tasks/task_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attend/error.h"

namespace attend {

std::string RightCommand(const ModelConfig& config) {
  for (const TaskName& name : kTaskNames)
    if (config.task == name.task) return fmt::format("; run it with `attend {}`", name.command);
  return "";
}

void CheckTask(const ModelConfig& config, std::initializer_list<std::string_view> tasks) {
  if (std::ranges::find(tasks, config.task) != tasks.end()) return;
  throw Error(ErrorKind::kUsage, fmt::format("the model's task is {}, expected {}{}", config.task,
                                             fmt::join(tasks, " or "), RightCommand(config)));
}

}  // namespace attend
