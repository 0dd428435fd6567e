// Threads that take parts of one thread's short jobs, one job after another.
//
// Waking a thread takes longer than such a job: those that serve spin for a moment after each, and
// sleep only when none follows.
#ifndef ATTEND_BASE_TEAM_H_
#define ATTEND_BASE_TEAM_H_

#include <atomic>
#include <cstdint>

namespace attend {

class Team {
 public:
  // `size` counts the caller of Run too.
  explicit Team(int64_t size) : size_(size) {}
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int64_t size() const { return size_; }

  // Calls body(part) for each part in [0, parts), here and on the threads that serve, and returns
  // when all are done. The body must not throw. One caller.
  template <class Body>
  void Run(int64_t parts, const Body& body) {
    RunErased(
        parts,
        [](const void* context, int64_t part) { (*static_cast<const Body*>(context))(part); },
        &body);
  }

  // Takes parts of jobs until Dismiss was called.
  void Serve();
  void Dismiss();

 private:
  using Call = void (*)(const void* context, int64_t part);
  void RunErased(int64_t parts, Call call, const void* context);
  void TakeParts();

  int64_t size_;
  // Of the job that runs; written only while no part of it is unfinished.
  Call call_ = nullptr;
  const void* context_ = nullptr;
  std::atomic<int64_t> untaken_{0};  // below 0: threads came too late
  std::atomic<int64_t> unfinished_{0};
  std::atomic<uint32_t> jobs_{0};  // begun so far, and Dismiss
  std::atomic<bool> dismissed_{false};
};

}  // namespace attend

#endif  // ATTEND_BASE_TEAM_H_
