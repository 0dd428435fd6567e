// /v1/completions, as the OpenAI API has it.
#ifndef ATTEND_SERVE_TASKS_LANGUAGE_MODEL_COMPLETIONS_H_
#define ATTEND_SERVE_TASKS_LANGUAGE_MODEL_COMPLETIONS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "serve/task_handler.h"
#include "serve/tasks/language_model/completion_json.h"
#include "serve/tasks/language_model/served_generator.h"

namespace attend {

// Safe to use from many threads; what runs may outlive it, but not the context's members.
class Completions {
 public:
  explicit Completions(const HandlerContext& context) : context_(context) {}

  // Their answers call this object.
  std::vector<Route> Routes() const;

 private:
  using JobPtr = std::shared_ptr<CompletionJob>;

  void Complete(const ExchangePtr& exchange) const;
  void AddPrompts(const ExchangePtr& exchange, const CompletionHead& head,
                  std::vector<GivenPrompt> prompts, const JobPtr& job) const;
  void Run(const ExchangePtr& exchange, const CompletionHead& head, const JobPtr& job) const;
  // Has a worker go on with a request, the one for what is large if `large` says so. What it throws
  // ends the job, and is the answer.
  void Continue(const ExchangePtr& exchange, const JobPtr& job, bool large,
                const std::function<void(CompletionJob&)>& work) const;

  const HandlerContext context_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_LANGUAGE_MODEL_COMPLETIONS_H_
