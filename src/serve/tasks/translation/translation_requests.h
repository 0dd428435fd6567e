// Requests for translations on their way through the models' queues: jobs made, run and answered.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_TRANSLATION_REQUESTS_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_TRANSLATION_REQUESTS_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "serve/task_handler.h"
#include "serve/tasks/translation/model_choice.h"
#include "serve/tasks/translation/translation_job.h"

namespace attend {

// Safe to use from many threads; what runs may outlive it, but not the context's members.
class TranslationRequests {
 public:
  using JobPtr = std::shared_ptr<TranslationJob>;
  // Goes on with a request: answers, or sends an event.
  using Work = std::function<void(const TranslationJob&)>;

  explicit TranslationRequests(const HandlerContext& context);

  // Throws Refusal where the queue of one of the models has no room for a sentence.
  void CheckRoom(const ModelChoice& choice) const;
  // To be held by a job with attention and its answer. Throws Refusal where too many have one.
  std::shared_ptr<void> ReserveAttention() const;
  // A job for these texts, of which `of_text` says the models. Throws Refusal once nobody waits for
  // it any more, and as MakeJob.
  JobPtr JobFor(const Exchange& exchange, const ModelChoice& choice,
                const std::vector<size_t>& of_text, std::vector<std::string> texts,
                const RequestOptions& asked) const;
  // Has the job translated. `finish` is called once, by a worker.
  void Run(const ExchangePtr& exchange, const JobPtr& job, const Work& finish) const;
  // Has a worker go on with a job's request. What it throws ends the job, and is the answer.
  void Continue(const ExchangePtr& exchange, const JobPtr& job, Work work) const;

 private:
  void Put(const ExchangePtr& exchange, const JobPtr& job) const;
  void Count(const ModelJob& job) const;

  const HandlerContext context_;
  const std::shared_ptr<std::atomic<int>> attention_jobs_;  // jobs may outlive the service
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_TRANSLATION_REQUESTS_H_
