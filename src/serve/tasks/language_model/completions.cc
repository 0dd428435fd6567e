#include "serve/tasks/language_model/completions.h"

#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "attend/error.h"
#include "serve/json_request.h"
#include "serve/refusal.h"

namespace attend {
namespace {

// Log-probabilities of a whole answer.
constexpr int64_t kMostAnswerLogprobs = 200000;
// From so many tokens on an answer is large to write.
constexpr int64_t kManyTokens = 2000;

std::string CompletionEvent(const Json& json) { return ToEvent("", Dump(json)); }

void SendEchoes(const ExchangePtr& exchange, const CompletionHead& head, const CompletionJob& job) {
  int64_t index = 0;
  for (const std::string& text : job.texts) {
    for (int64_t i = 0; i < job.asked.generation.n; ++i) {
      exchange->SendEvent(CompletionEvent(PieceToJson(head, index++, text, nullptr)));
    }
  }
}

// What ends the events of an answer.
void SendEnd(const ExchangePtr& exchange, const CompletionHead& head, CompletionJob* job) {
  int64_t index = 0;
  for (const JobPrompt& prompt : job->prompts) {
    for (const Generation& output : prompt.outputs) {
      Json logprobs;
      if (job->asked.logprobs >= 0)
        logprobs = job->streamed[index].End(output.ending == Ending::kStop);
      exchange->SendEvent(CompletionEvent(
          PieceToJson(head, index++, "", std::move(logprobs), FinishReasonOf(output))));
    }
  }
  if (job->asked.usage_event) exchange->SendEvent(CompletionEvent(UsageToJson(head, *job)));
  exchange->SendEvent(ToEvent("", "[DONE]"));
  exchange->EndEvents();
}

// Tokens that a whole answer has something to say of.
int64_t TokensToTell(const CompletionJob& job, int64_t written) {
  return written + (job.asked.echo ? job.asked.generation.n * job.PromptTokens() : 0);
}

// Throws Error(kInput) for an answer that would be too large: some tens of megabytes.
void CheckLogprobs(const CompletionJob& job) {
  if (job.asked.logprobs < 0) return;
  const GenerationOptions& asked = job.asked.generation;
  const int64_t written = asked.n * std::ssize(job.prompts) * asked.max_tokens;
  const int64_t numbers = TokensToTell(job, written) * (1 + job.asked.logprobs);
  if (numbers <= kMostAnswerLogprobs) return;
  throw Error(ErrorKind::kInput,
              fmt::format("the answer could have {} log-probabilities, expected at most {}; lower "
                          "max_tokens, n or logprobs, or send fewer prompts at once",
                          numbers, kMostAnswerLogprobs));
}

}  // namespace

std::vector<Route> Completions::Routes() const {
  return {{.path = kCompletionsRoute,
           .methods = "POST",
           .answer = [this](const ExchangePtr& exchange) { Complete(exchange); },
           .effort = Effort::kModel,
           .errors = ErrorForm::kOpenAi}};
}

void Completions::Complete(const ExchangePtr& exchange) const {
  Json body = ReadJsonRequest(exchange.get());
  std::vector<GivenPrompt> prompts = TakePrompts(&body);
  std::vector<std::string> texts;
  for (const GivenPrompt& prompt : prompts) texts.push_back(prompt.text);
  CheckCharacters(texts, context_.options);
  const CompletionOptions asked = ReadCompletionOptions(std::move(body));
  context_.router.SetLimit(exchange, asked.queue.deadline_ms);
  CompletionHead head{"cmpl-" + exchange->request().id, std::time(nullptr), ""};
  const auto outputs = std::ssize(prompts) * asked.generation.n;
  if (prompts.empty() || outputs > context_.options.max_sentences) {
    throw Error(ErrorKind::kInput,
                fmt::format("the request has {} prompts with {} outputs each, expected 1 to {} "
                            "outputs together",
                            prompts.size(), asked.generation.n, context_.options.max_sentences));
  }
  const auto model = std::static_pointer_cast<ServedGenerator>(
      context_.models.Find(kCompletionsRoute, asked.model));
  if (!model->HasRoom()) context_.router.RefuseWork();
  head.model = model->name();
  const auto job = std::make_shared<CompletionJob>();
  job->model = model;
  job->asked = asked;
  job->bulk = asked.queue.IsBulk(std::ssize(prompts));
  AddPrompts(exchange, head, std::move(prompts), job);
  CheckLogprobs(*job);
  Run(exchange, head, job);
}

void Completions::AddPrompts(const ExchangePtr& exchange, const CompletionHead& head,
                             std::vector<GivenPrompt> prompts, const JobPtr& job) const {
  const int64_t n = job->asked.generation.n;
  for (size_t i = 0; i < prompts.size(); ++i) {
    if (!exchange->Wanted()) throw Refusal(504, "nobody waits for the answer any more");
    const auto first = static_cast<int64_t>(i) * n;  // of its outputs among the answer's
    GrowingOutputs::Show show;
    if (job->asked.stream) {
      show = [this, exchange, head, i, first, weak = std::weak_ptr(job)](int64_t output,
                                                                         std::string piece) {
        const JobPtr shown = weak.lock();
        Continue(exchange, shown, /*large=*/false,
                 [exchange, head, index = first + output, text = std::move(piece),
                  fresh = std::exchange(shown->prompts[i].fresh[output], {})](CompletionJob& now) {
                   Json logprobs;
                   if (now.asked.logprobs >= 0) logprobs = now.streamed[index].Show(text, fresh);
                   exchange->SendEvent(
                       CompletionEvent(PieceToJson(head, index, text, std::move(logprobs))));
                 });
      };
    }
    job->model->AddPrompt(std::move(prompts[i]), std::move(show), job.get());
    const int64_t told = job->asked.stream && job->asked.logprobs >= 0 ? n : 0;
    for (int64_t output = 0; output < told; ++output)
      job->streamed.emplace_back(WriterOf(*job, job->prompts.back()));
  }
}

void Completions::Run(const ExchangePtr& exchange, const CompletionHead& head,
                      const JobPtr& job) const {
  RequestFacts facts{.model = head.model,
                     .sentences = std::ssize(job->prompts),
                     .source_pieces = job->PromptTokens()};
  for (const std::string& text : job->texts) {
    if (context_.options.log_text) facts.text += text + '\n';
  }
  exchange->Describe(std::move(facts));
  job->on_end = [this, exchange, head, weak = std::weak_ptr(job)](const std::exception_ptr& error) {
    const JobPtr ended = weak.lock();
    const bool large = !ended->asked.stream &&  // whose pieces come from the other worker
                       TokensToTell(*ended, ended->OutputTokens()) >= kManyTokens;
    Continue(exchange, ended, large, [this, exchange, head, error](CompletionJob& done) {
      if (error) std::rethrow_exception(error);
      context_.metrics.Ran(head.model, std::ssize(done.prompts), done.PromptTokens(),
                           done.OutputTokens());
      if (done.asked.stream) return SendEnd(exchange, head, &done);
      exchange->Answer({200, Dump(CompletionToJson(head, done))});
    });
  };
  if (!job->model->queue().TryPut(job)) context_.router.RefuseWork();
  // No piece goes before it: the worker that would send one is busy here.
  if (job->asked.stream && job->asked.echo) SendEchoes(exchange, head, *job);
  exchange->OnUnwanted([weak = std::weak_ptr(job)] {
    if (const auto unwanted = weak.lock()) unwanted->model->queue().Cancel(unwanted);
  });
}

void Completions::Continue(const ExchangePtr& exchange, const JobPtr& job, bool large,
                           const std::function<void(CompletionJob&)>& work) const {
  context_.router.Continue(exchange, large, [exchange, job, work] {
    if (job->failed || !exchange->Wanted()) return;
    job->failed = !Attempt(exchange, [&] { work(*job); });
    if (job->failed) job->model->queue().Cancel(job);
  });
}

}  // namespace attend
