// The tasks that a model may be made for, and what runs each.
#ifndef ATTEND_TASKS_TASK_NAMES_H_
#define ATTEND_TASKS_TASK_NAMES_H_

#include <initializer_list>
#include <string>
#include <string_view>

#include "attend/model_config.h"

namespace attend {

// ModelConfig::task, the command for it, and its class in Python.
struct TaskName {
  const char* task;
  const char* command;
  const char* python_class;
};
inline constexpr TaskName kTaskNames[] = {{"classification", "classify", "Classifier"},
                                          {"fusion", "classify", "ItemClassifier"},
                                          {"language_model", "generate", "Generator"},
                                          {"masked_language_model", "fill", "Encoder"},
                                          {"parsing", "parse", "Parser"},
                                          {"tagging", "tag", "Tagger"},
                                          {"transcription", "transcribe", "Transcriber"},
                                          {"translation", "translate", "Translator"}};

// "; run it with `attend NAME`", or nothing for a task that is not known.
std::string RightCommand(const ModelConfig& config);

// Throws Error(kUsage) for a model that was made for none of the tasks; the message names the
// command for its own.
void CheckTask(const ModelConfig& config, std::initializer_list<std::string_view> tasks);

}  // namespace attend

#endif  // ATTEND_TASKS_TASK_NAMES_H_
