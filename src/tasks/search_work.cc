#include "tasks/search_work.h"

#include <exception>
#include <utility>

#include "attend/error.h"
#include "engine/model_stepper.h"

namespace attend {
namespace {

std::unique_ptr<Stepper> StepperOf(const SearchModel& model, Activations* activations) {
  if (model.ensemble != nullptr) return model.ensemble->MakeStepper(activations);
  if (model.make_stepper != nullptr) return model.make_stepper();
  return std::make_unique<ModelStepper>(model.weights, model.shortlist, activations);
}

}  // namespace

SearchWork::Thread::Thread(const SearchModel& model, SharedQueue* queue, int worker)
    : stepper(StepperOf(model, &activations)), batch(model.options, queue, stepper.get(), worker) {}

SearchWork::SearchWork(const SearchModel& model, SharedQueue* queue, WorkPool* pool)
    : queue_(queue), pool_(pool) {
  for (int worker = 0; worker < pool->size(); ++worker) {
    threads_.push_back(std::make_unique<Thread>(model, queue, worker));
  }
  pool_->Add(this);
}

SearchWork::~SearchWork() {
  pool_->Remove(this);
  const auto stopped =
      std::make_exception_ptr(Error(ErrorKind::kRuntime, "the search was stopped"));
  for (const auto& thread : threads_) thread->batch.Fail(stopped);
}

bool SearchWork::Step(int worker) {
  Thread* thread = threads_[worker].get();
  const bool timed = queue_->Timed();
  WorkTimer& timer = thread->activations.scratch.timer;
  timer.Start(timed);
  try {
    thread->batch.Admit();
    if (thread->batch.size() == 0) return false;
    Search(thread);
  } catch (const std::exception&) {
    thread->batch.Fail(std::current_exception());
    Count(thread);
  }
  if (thread->batch.size() == 0) EndTeam(thread);
  if (timed) {
    timer.Book(&WorkSeconds::search);
    WorkSeconds seconds;
    timer.AddTo(&seconds);
    queue_->Spent(seconds);
  }
  return true;
}

void SearchWork::Search(Thread* thread) {
  Count(thread);
  sentences_ == 1 ? GiveTeam(thread) : EndTeam(thread);
  thread->batch.Step();
  Count(thread);
}

void SearchWork::Count(Thread* thread) {
  const int64_t before = std::exchange(thread->counted, thread->batch.size());
  sentences_ += thread->counted - before;
}

// Makes a new team if the last was dismissed: threads that had other work then may be idle now.
void SearchWork::GiveTeam(Thread* thread) {
  if (pool_->size() == 1) return;
  {
    const std::lock_guard lock(mutex_);
    if (thread->team != nullptr && team_ == thread->team) return;
    team_ = thread->team = std::make_shared<Team>(pool_->size());
  }
  thread->activations.scratch.linear.team = thread->team.get();
  pool_->CallForHelp();
}

void SearchWork::EndTeam(Thread* thread) {
  if (thread->team == nullptr) return;
  thread->team->Dismiss();
  thread->activations.scratch.linear.team = nullptr;
  const std::lock_guard lock(mutex_);
  if (team_ == thread->team) team_.reset();
  thread->team.reset();
}

std::shared_ptr<Team> SearchWork::TeamToServe() {
  const std::lock_guard lock(mutex_);
  return team_;
}

void SearchWork::Release() {
  const std::lock_guard lock(mutex_);
  if (team_ != nullptr) team_->Dismiss();
  team_.reset();
}

}  // namespace attend
