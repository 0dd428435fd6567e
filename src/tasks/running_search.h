// What runs the calls of a task, in one process.
#ifndef ATTEND_TASKS_RUNNING_SEARCH_H_
#define ATTEND_TASKS_RUNNING_SEARCH_H_

#include "tasks/search_calls.h"
#include "tasks/search_work.h"
#include "tasks/task_threads.h"

namespace attend {

struct RunningSearch {
  RunningSearch(const SearchModel& model, int count)
      : threads(count), calls(&threads.pool), search(model, &calls, &threads.pool) {}

  TaskThreads threads;
  SearchCalls calls;
  SearchWork search;
};

}  // namespace attend

#endif  // ATTEND_TASKS_RUNNING_SEARCH_H_
