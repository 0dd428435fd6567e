// The threads of a task, with memory for what each runs.
#ifndef ATTEND_TASKS_TASK_THREADS_H_
#define ATTEND_TASKS_TASK_THREADS_H_

#include <vector>

#include "base/thread_pool.h"
#include "base/work_pool.h"
#include "tasks/forced_decoding.h"

namespace attend {

struct TaskThreads {
  // 0: one for each processor.
  explicit TaskThreads(int threads)
      : pool(threads > 0 ? threads : DefaultThreads()), forced(pool.size()) {}

  WorkPool pool;
  std::vector<ForcedDecoding> forced;  // by worker; of one step
};

}  // namespace attend

#endif  // ATTEND_TASKS_TASK_THREADS_H_
