#include "serve/tasks/translation/translation_requests.h"

#include <algorithm>
#include <utility>

#include "serve/refusal.h"

namespace attend {
namespace {

// Jobs with attention that run or wait to be written: each may take some hundred megabytes.
constexpr int kMostWithAttention = 8;

// As much as the square of a sentence's length times layers and heads may be to write.
bool IsLarge(const TranslationJob& request) {
  return std::ranges::any_of(request.jobs, [](const ModelJob& job) {
    return !job.sentences.empty() && job.sentences[0].attention;
  });
}

// All of the request leaves the queues.
void Cancel(const std::shared_ptr<TranslationJob>& request) {
  for (ModelJob& job : request->jobs) job.model->queue().Cancel({request, &job});
}

// As `de-en,fr-en`.
std::string NamesOf(const std::deque<ModelJob>& jobs) {
  std::string names;
  for (const ModelJob& job : jobs) names += (names.empty() ? "" : ",") + job.model->name();
  return names;
}

}  // namespace

TranslationRequests::TranslationRequests(const HandlerContext& context)
    : context_(context), attention_jobs_(std::make_shared<std::atomic<int>>(0)) {}

void TranslationRequests::CheckRoom(const ModelChoice& choice) const {
  for (const auto& model : choice.models) {
    if (!model->HasRoom()) context_.router.RefuseWork();
  }
}

std::shared_ptr<void> TranslationRequests::ReserveAttention() const {
  const bool room = ++*attention_jobs_ <= kMostWithAttention;
  std::shared_ptr<void> reserved(attention_jobs_.get(),
                                 [taken = attention_jobs_](void*) { --*taken; });
  if (!room) context_.router.RefuseWork();
  return reserved;
}

TranslationRequests::JobPtr TranslationRequests::JobFor(const Exchange& exchange,
                                                        const ModelChoice& choice,
                                                        const std::vector<size_t>& of_text,
                                                        std::vector<std::string> texts,
                                                        const RequestOptions& asked) const {
  return MakeJob(choice.models, of_text, std::move(texts), asked, context_.options, [&] {
    if (!exchange.Wanted()) throw Refusal(504, "nobody waits for the answer any more");
  });
}

void TranslationRequests::Continue(const ExchangePtr& exchange, const JobPtr& job,
                                   Work work) const {
  context_.router.Continue(exchange, IsLarge(*job), [exchange, job, work = std::move(work)] {
    if (job->failed || !exchange->Wanted()) return;
    job->failed = !Attempt(exchange, [&] { work(*job); });
    if (job->failed) Cancel(job);
  });
}

// A job that is not wanted before it is in the queues leaves them again, and so does one that one
// of them has no room for. No event has been sent by then: the worker that would send it is busy
// here.
void TranslationRequests::Put(const ExchangePtr& exchange, const JobPtr& job) const {
  RequestFacts facts;
  facts.model = NamesOf(job->jobs);
  facts.sentences = job->Sentences();
  facts.source_pieces = job->SourcePieces();
  for (const auto& text : job->texts) {
    if (context_.options.log_text) facts.text += text.text + '\n';
  }
  exchange->Describe(std::move(facts));
  job->running = job->jobs.size();
  for (ModelJob& part : job->jobs) {
    if (part.sentences.empty()) {
      part.on_end(nullptr);
    } else if (!part.model->queue().TryPut({job, &part})) {
      job->failed = true;
      Cancel(job);
      context_.router.RefuseWork();
    }
  }
  exchange->OnUnwanted([weak = std::weak_ptr(job)] {
    if (const auto unwanted = weak.lock()) Cancel(unwanted);
  });
}

void TranslationRequests::Count(const ModelJob& job) const {
  context_.metrics.Ran(job.model->name(), std::ssize(job.sentences), job.SourcePieces(),
                       job.TargetPieces());
  int64_t spans = 0, kept = 0;
  for (const JobSentence& sentence : job.sentences) {
    const auto& hypotheses = sentence.result.translation.hypotheses;
    if (hypotheses.empty()) continue;
    spans += hypotheses[0].protected_spans;
    kept += hypotheses[0].protected_kept;
  }
  context_.metrics.Protected(job.model->name(), spans, kept);
  context_.metrics.Unknown(job.model->name(), job.UnknownCharacters());
}

void TranslationRequests::Run(const ExchangePtr& exchange, const JobPtr& job,
                              const Work& finish) const {
  for (ModelJob& part : job->jobs) {
    part.on_end = [this, exchange, weak = std::weak_ptr(job), &part,
                   finish](const std::exception_ptr& error) {
      const JobPtr request = weak.lock();
      if (!error) Count(part);
      if (!error && --request->running > 0) return;
      Continue(exchange, request, [error, finish](const TranslationJob& done) {
        if (error) std::rethrow_exception(error);
        finish(done);
      });
    };
  }
  Put(exchange, job);
}

}  // namespace attend
