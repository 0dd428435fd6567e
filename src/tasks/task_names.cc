#include "tasks/task_names.h"

#include <fmt/format.h>

#include "attend/error.h"

namespace attend {

void CheckTask(const ModelConfig& config, const std::string& task) {
  if (config.task == task) return;
  std::string cure;
  for (const TaskName& name : kTaskNames) {
    if (config.task == name.task) cure = fmt::format("; run it with `attend {}`", name.command);
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("the model's task is {}, expected {}{}", config.task, task, cure));
}

}  // namespace attend
