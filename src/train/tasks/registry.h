// The tasks that can be trained: each is a folder beside this file, and a line in registry.cc.
#ifndef ATTEND_TRAIN_TASKS_REGISTRY_H_
#define ATTEND_TRAIN_TASKS_REGISTRY_H_

#include <memory>
#include <string>
#include <vector>

#include "train/task_info.h"
#include "train/task_options.h"

namespace attend {

class TrainingTask;
struct ExportedRun;
struct Model;
struct TaskSetup;

struct TrainableTask {
  TaskInfo info;
  std::unique_ptr<TaskOptions> (*make_options)();
  // Checks what the options name, makes the options whole and reads the data. Throws Error.
  std::unique_ptr<TrainingTask> (*set_up)(const TaskSetup& setup);
  // Gives a model of averaged weights what else it holds: vocabularies, labels, samples.
  void (*complete_model)(const ExportedRun& run, Model* model);
};

// Throws Error(kConfiguration) for an unknown name, which names those there are.
const TrainableTask& FindTask(const std::string& name);
std::vector<std::string> TaskNames();

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_REGISTRY_H_
