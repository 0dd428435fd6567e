// The options that a task adds to those of every training run. No Torch here.
#ifndef ATTEND_TRAIN_TASK_OPTIONS_H_
#define ATTEND_TRAIN_TASK_OPTIONS_H_

#include <memory>
#include <utility>

#include "base/fields.h"

namespace attend {

struct TrainOptions;

class TaskOptions {
 public:
  virtual ~TaskOptions() = default;
  virtual std::unique_ptr<TaskOptions> Clone() const = 0;
  // `options` are the run's, which have these. What they make a run keep nothing of is
  // kNotRecorded.
  virtual FieldList FieldsFor(const TrainOptions& options) = 0;
  // Throws Error(kConfiguration) naming options that contradict each other or are missing.
  virtual void Check(const TrainOptions& options) const = 0;
  // There is something to validate on.
  virtual bool validates() const = 0;
};

// Some task's options as a value: a copy has its own.
class AnyTaskOptions {
 public:
  explicit AnyTaskOptions(std::unique_ptr<TaskOptions> options) : options_(std::move(options)) {}
  AnyTaskOptions(const AnyTaskOptions& other) : options_(other->Clone()) {}
  AnyTaskOptions& operator=(const AnyTaskOptions& other) {
    options_ = other->Clone();
    return *this;
  }
  TaskOptions* operator->() { return options_.get(); }
  const TaskOptions* operator->() const { return options_.get(); }
  TaskOptions& operator*() { return *options_; }
  const TaskOptions& operator*() const { return *options_; }

 private:
  std::unique_ptr<TaskOptions> options_;
};

}  // namespace attend

#endif  // ATTEND_TRAIN_TASK_OPTIONS_H_
