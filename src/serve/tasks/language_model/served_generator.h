// A model that generates: its weights and its queue, on threads that all models share.
#ifndef ATTEND_SERVE_TASKS_LANGUAGE_MODEL_SERVED_GENERATOR_H_
#define ATTEND_SERVE_TASKS_LANGUAGE_MODEL_SERVED_GENERATOR_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "serve/request_queue.h"
#include "serve/serve_options.h"
#include "serve/served_model.h"
#include "serve/tasks/language_model/completion_options.h"
#include "serve/tasks/language_model/logprobs_writer.h"
#include "serve/text_limit.h"
#include "tasks/language_model/generation_search.h"
#include "tasks/loaded_model.h"
#include "tasks/search_work.h"

namespace attend {

constexpr const char* kCompletionsRoute = "/v1/completions";

struct JobPrompt : JobItem, SearchInput {
  size_t index = 0;  // of the job's
  int worker = 0;    // the thread that searches it
  std::optional<GrowingOutputs> growing;
  std::vector<Generation> outputs;
  // With logprobs, by output: of the prompt where it is echoed, and of the output.
  std::vector<std::vector<ScoredToken>> scored;
  // With logprobs and stream, by output: tokens since its last piece; the searching thread's alone.
  std::vector<std::vector<ScoredToken>> fresh;

  std::span<const int32_t> ids() const { return std::span(prompt).subspan(1); }  // without bos
};

class ServedGenerator;

// What a request asks.
struct CompletionJob : Job {
  std::vector<JobItem*> Items() override;
  int64_t PromptTokens() const;
  int64_t OutputTokens() const;

  std::shared_ptr<ServedGenerator> model;
  CompletionOptions asked;
  std::vector<std::string> texts;  // the prompts
  std::deque<JobPrompt> prompts;
  // The worker's alone.
  std::vector<StreamedLogprobs> streamed;  // of each output of the answer, with logprobs and stream
  bool failed = false;                     // its request has an error for an answer
};

class ServedGenerator final : public ServedModel {
 public:
  // Starts. Throws as Generator does, Error(kInput) for a model without vocabulary.
  ServedGenerator(const ModelToServe& model, const ServeOptions& options, WorkPool* pool);
  ~ServedGenerator() override { Stop(); }

  const Vocabulary& vocabulary() const { return loaded()->target(); }
  RequestQueue& queue() { return queue_; }
  // Adds a prompt to a job; `show` as GrowingOutputs has it. Throws Error(kInput) for a prompt that
  // is too long, Error(kUsage) for ids outside the vocabulary.
  void AddPrompt(GivenPrompt given, GrowingOutputs::Show show, CompletionJob* job) const;
  // The most tokens that a prompt may have.
  int64_t max_prompt_tokens() const;

  int64_t waiting() const override { return queue_.waiting(); }
  int64_t live() const override { return queue_.live(); }
  int64_t capacity() const override { return queue_.most_live(); }
  bool HasRoom() const override { return queue_.HasRoom(); }
  void Describe(Json* json) const override;
  void Stop() override;

 private:
  const TextLimit limit_;  // of a prompt
  RequestQueue queue_;
  std::unique_ptr<SharedQueue> prompts_;  // the queue, as the search sees it
  std::unique_ptr<SearchWork> search_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_LANGUAGE_MODEL_SERVED_GENERATOR_H_
