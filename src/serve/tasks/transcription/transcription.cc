#include "serve/tasks/transcription/transcription.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "attend/error.h"
#include "serve/openapi.h"
#include "serve/refusal.h"
#include "serve/tasks/transcription/served_transcriber.h"
#include "serve/tasks/transcription/transcription_request.h"
#include "tasks/transcription/segments.h"

namespace attend {
namespace {

using JobPtr = std::shared_ptr<TranscriptionJob>;
using AskedPtr = std::shared_ptr<const TranscriptionRequest>;

// Throws Error(kInput) for a language that is not the model's.
void CheckLanguage(const std::string& language, const ServedTranscriber& model) {
  if (language.empty() || language == model.language()) return;
  throw Error(ErrorKind::kInput,
              model.language().empty()
                  ? fmt::format("the model {} names no language; leave out language", model.name())
                  : fmt::format("the model {} writes {}, not the language of the request",
                                model.name(), model.language()));
}

// Moves from the job's segments.
HttpResponse AnswerOf(const TranscriptionRequest& asked, TranscriptionJob* job) {
  Transcription found;
  found.seconds = job->seconds;
  std::vector<SegmentAttention> attention;
  for (JobSegment& segment : job->segments) {
    found.segments.push_back(std::move(segment.found));
    if (segment.attention.columns > 0) attention.push_back(std::move(segment.attention));
  }
  found.hypotheses = JoinSegments(found.segments);
  Json attended;
  if (asked.attention)
    attended = RecordingAttentionToJson(job->model->config(), found.segments, attention);
  return TranscriptionResponse(asked, found, job->model->language(), std::move(attended));
}

Json RequestSchema(const ModelStore& models) {
  TranscriptionRequest asked;
  Json inputs = {
      {"file",
       {{"type", "string"},
        {"format", "binary"},
        {"description", "WAV, FLAC, Opus in Ogg, AIFF or AU, of an hour at most"}}},
      {"timestamp_granularities[]",
       {{"type", "array"},
        {"items", {{"type", "string"}, {"enum", {"word", "segment"}}}},
        {"description", "what verbose_json has: words, segments or both; none: segments"}}}};
  Json schema =
      openapi::RequestSchema(std::move(inputs), Fields(asked), models, kTranscriptionsRoute);
  schema["properties"]["temperature"]["maximum"] = 0;
  schema["required"] = {"file"};
  return schema;
}

class TranscribingHandler : public TaskHandler {
 public:
  explicit TranscribingHandler(const HandlerContext& context) : context_(context) {}

  std::vector<Route> Routes() override {
    return {{.path = kTranscriptionsRoute,
             .methods = "POST",
             .answer = [this](const ExchangePtr& exchange) { Transcribe(exchange); },
             .effort = Effort::kModel,
             .errors = ErrorForm::kOpenAi,
             .takes_files = true}};
  }

  void Describe(Json* document) const override {
    using openapi::Content, openapi::Reference;
    Json& schemas = (*document)["components"]["schemas"];
    schemas.update(openapi::FileOf("transcription_openapi.json"));
    schemas["TranscriptionRequest"] = RequestSchema(context_.models);
    Json answer = Content("application/json", Reference("Transcription"));
    for (const char* type : {"text/plain", "text/vtt"})
      answer["content"][type] = {{"schema", {{"type", "string"}}}};
    (*document)["paths"][kTranscriptionsRoute]["post"] = openapi::WithBody(
        openapi::Operation("write down what is said in a recording, as the OpenAI API has it",
                           std::move(answer), openapi::ErrorsOfModels(ErrorForm::kOpenAi),
                           ErrorForm::kOpenAi),
        Content("multipart/form-data", Reference("TranscriptionRequest")));
  }

 private:
  void Transcribe(const ExchangePtr& exchange) const {
    const auto request =
        std::make_shared<TranscriptionRequest>(ReadTranscriptionRequest(exchange.get()));
    context_.router.SetLimit(exchange, request->queue.deadline_ms);
    // A small file may hold an hour of sound.
    context_.router.Continue(exchange, /*large=*/true, [this, exchange, request] {
      if (!exchange->Wanted()) return;
      Attempt(exchange, [&] { Take(exchange, std::move(*request)); });
    });
  }

  void Take(const ExchangePtr& exchange, TranscriptionRequest request) const {
    const auto job = std::make_shared<TranscriptionJob>();
    job->model = std::static_pointer_cast<ServedTranscriber>(
        context_.models.Find(kTranscriptionsRoute, request.model));
    if (!job->model->HasRoom()) context_.router.RefuseWork();
    CheckLanguage(request.language, *job->model);
    job->options.word_times = request.NeedsWordTimes();
    job->attention = request.attention;
    if (!job->model->TakeFile(request.file, request.file_name, job.get()))
      context_.router.RefuseWork();
    const int64_t segments = std::ssize(job->segments), most = job->model->queue().capacity();
    if (segments > most) {
      throw Error(
          ErrorKind::kInput,
          fmt::format("the recording has {} segments, expected at most {}; send it in parts, "
                      "or raise --queue-sentences of the server",
                      segments, most));
    }
    request.file = {};  // nobody needs its bytes any more
    job->bulk = request.queue.IsBulk(std::ssize(job->segments));
    Run(exchange, std::make_shared<const TranscriptionRequest>(std::move(request)), job);
  }

  void Run(const ExchangePtr& exchange, const AskedPtr& asked, const JobPtr& job) const {
    exchange->Describe({.model = job->model->name(),
                        .sentences = std::ssize(job->segments),
                        .source_pieces = job->Rows()});
    if (job->segments.empty()) return exchange->Answer(AnswerOf(*asked, job.get()));
    job->on_end = [this, exchange, asked,
                   weak = std::weak_ptr(job)](const std::exception_ptr& error) {
      context_.router.Continue(exchange, /*large=*/false,
                               [this, exchange, asked, done = weak.lock(), error] {
                                 if (!exchange->Wanted()) return;
                                 Attempt(exchange, [&] { End(exchange, *asked, error, *done); });
                               });
    };
    if (!job->model->queue().TryPut(job)) context_.router.RefuseWork();
    exchange->OnUnwanted([weak = std::weak_ptr(job)] {
      if (const auto unwanted = weak.lock()) unwanted->model->queue().Cancel(unwanted);
    });
  }

  void End(const ExchangePtr& exchange, const TranscriptionRequest& asked,
           const std::exception_ptr& error, TranscriptionJob& done) const {
    if (error) std::rethrow_exception(error);
    int64_t tokens = 0;
    for (const JobSegment& segment : done.segments)
      tokens += std::ssize(segment.found.hypotheses[0].ids);
    context_.metrics.Ran(done.model->name(), std::ssize(done.segments), done.Rows(), tokens);
    exchange->Answer(AnswerOf(asked, &done));
  }

  const HandlerContext context_;
};

}  // namespace

std::shared_ptr<ServedModel> ServeTranscription(const ModelToServe& model,
                                                const ServeOptions& options, WorkPool* pool) {
  model.loaded->target();  // throws where there is no vocabulary
  return std::make_shared<ServedTranscriber>(model, options, pool);
}

std::unique_ptr<TaskHandler> TranscriptionHandler(const HandlerContext& context) {
  return std::make_unique<TranscribingHandler>(context);
}

}  // namespace attend
