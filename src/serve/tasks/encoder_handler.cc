#include "serve/tasks/encoder_handler.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "attend/error.h"
#include "base/base64.h"
#include "serve/json_request.h"
#include "serve/openapi.h"
#include "serve/refusal.h"

namespace attend {
namespace {

// Classes or tokens of a whole answer: some tens of megabytes.
constexpr int64_t kMostAnswerItems = 200000;
// From so many texts on an answer is large to write.
constexpr int64_t kManyTexts = 32;

constexpr const char* kPicture = "picture";

// Of "data:image/png;base64,", as browsers give files.
size_t DataUrlPrefix(std::string_view text) {
  if (!text.starts_with("data:")) return 0;
  const size_t comma = text.find(',');
  return comma == std::string_view::npos ? 0 : comma + 1;
}

}  // namespace

void TakeItems(Json* body, const std::string& name, const std::string& expected,
               EncoderRequest* asked) {
  const bool pictures = body->is_object() && body->contains(kPicture);
  if (pictures && body->contains(name)) {
    throw Error(ErrorKind::kInput,
                fmt::format("request body: {} and {} are given; leave out one", name, kPicture));
  }
  if (!pictures && !(body->is_object() && body->contains(name)))
    throw Error(ErrorKind::kInput, "request body: expected an object with " + expected);
  asked->texts = TakeTexts(body, pictures ? kPicture : name);
  if (!pictures) return;
  asked->reads = EncoderReads::kPictures;
  for (size_t i = 0; i < asked->texts.size(); ++i)
    asked->texts[i] = BytesOfPicture(asked->texts[i], fmt::format("picture {}", i + 1));
}

std::string BytesOfPicture(std::string_view text, const std::string& name) {
  std::optional<std::string> bytes = BytesOfBase64(text.substr(DataUrlPrefix(text)));
  if (bytes && !bytes->empty()) return *std::move(bytes);
  throw Error(ErrorKind::kInput,
              fmt::format("request body: {} is not base64, expected the bytes of a PNG or JPEG "
                          "file in base64",
                          name));
}

Json ItemSchemas(const std::string& name, const std::string& description) {
  return {{name, openapi::TextOrMoreTexts(description)},
          {kPicture, openapi::TextOrMoreTexts(
                         fmt::format("in place of {}, for a model that reads pictures: a PNG or "
                                     "JPEG file in base64, which \"data:...;base64,\" may precede",
                                     name))}};
}

void RequireItems(const std::string& name, Json* schema) {
  (*schema)["oneOf"] = Json::array({{{"required", {name}}}, {{"required", {kPicture}}}});
}

FieldList CommonFields(EncoderRequest* asked) {
  FieldList fields;
  fields
      .Add("model", &asked->model,
           "name of the model; empty: the only one that answers at the route")
      .Nest("", Fields(asked->queue));
  return fields;
}

Json ResultsToJson(EncoderJob* job) {
  Json results = Json::array();
  for (EncoderText& text : job->texts) results.push_back(std::move(text.answer));
  return {{"model", job->model->name()}, {"results", std::move(results)}};
}

Json EncoderOperation(const std::string& summary, const std::string& request,
                      const std::string& answer, ErrorForm errors) {
  using openapi::Content, openapi::Reference;
  return openapi::WithBody(
      openapi::Operation(summary, Content("application/json", Reference(answer)),
                         openapi::ErrorsOfModels(errors), errors),
      Content("application/json", Reference(request)));
}

std::vector<Route> EncoderHandler::Routes() {
  return {{.path = route_.path,
           .methods = "POST",
           .answer = [this](const ExchangePtr& exchange) { Answer(exchange); },
           .effort = Effort::kModel,
           .errors = route_.errors,
           .takes_files = route_.takes_files}};
}

void EncoderHandler::Describe(Json* document) const { route_.describe(context_.models, document); }

void EncoderHandler::CheckSize(const EncoderRequest& asked) const {
  constexpr const char* kNames[] = {"texts", "pictures", "items"};
  if (asked.reads == EncoderReads::kTexts) CheckCharacters(asked.texts, context_.options);
  if (asked.reads == EncoderReads::kItems) {
    std::vector<std::string> texts;
    for (const ClassifiedItem& item : asked.items) texts.push_back(item.text.value_or(""));
    CheckCharacters(texts, context_.options);
  }
  const int64_t count = asked.count(), most = context_.options.max_sentences;
  if (count == 0 || count > most) {
    throw Error(ErrorKind::kInput, fmt::format("the request has {} {}, expected 1 to {}", count,
                                               kNames[static_cast<size_t>(asked.reads)], most));
  }
  if (asked.answer_items > kMostAnswerItems) {
    throw Error(ErrorKind::kInput,
                fmt::format("the request asks for {} classes, tokens or numbers, expected at most "
                            "{}; lower top, or send fewer texts at once",
                            asked.answer_items, kMostAnswerItems));
  }
}

EncoderHandler::JobPtr EncoderHandler::JobFor(const Exchange& exchange,
                                              EncoderRequest asked) const {
  const auto job = std::make_shared<EncoderJob>();
  job->model =
      std::static_pointer_cast<ServedEncoder>(context_.models.Find(route_.path, asked.model));
  if (!job->model->HasRoom()) context_.router.RefuseWork();
  job->model->CheckReads(asked.reads, asked.parts);
  job->call = std::make_shared<const EncoderCall>(std::move(asked.call));
  job->bulk = asked.queue.IsBulk(asked.count());
  for (int64_t i = 0; i < asked.count(); ++i) {
    if (!exchange.Wanted()) throw Refusal(504, "nobody waits for the answer any more");
    EncoderText& text = job->texts.emplace_back();
    if (asked.reads == EncoderReads::kPictures) {
      job->model->TakePicture(asked.texts[i], fmt::format("picture {}", i + 1), &text);
      continue;
    }
    if (asked.reads == EncoderReads::kItems) {
      job->model->TakeItem(std::move(asked.items[i]), fmt::format("item {}", i + 1), &text);
      continue;
    }
    text.text = std::move(asked.texts[i]);
    if (!asked.words.empty()) text.words = std::move(asked.words[i]);
    job->model->TakeText(fmt::format("text {}", i + 1), &text);
  }
  return job;
}

void EncoderHandler::Answer(const ExchangePtr& exchange) const {
  const auto asked = std::make_shared<EncoderRequest>(route_.read(ReadJsonRequest(exchange.get())));
  CheckSize(*asked);
  context_.router.SetLimit(exchange, asked->queue.deadline_ms);
  if (asked->reads == EncoderReads::kTexts)
    return Run(exchange, JobFor(*exchange, std::move(*asked)));
  // A small file may hold a large picture.
  context_.router.Continue(exchange, /*large=*/true, [this, exchange, asked] {
    if (!exchange->Wanted()) return;
    Attempt(exchange, [&] { Run(exchange, JobFor(*exchange, std::move(*asked))); });
  });
}

void EncoderHandler::Run(const ExchangePtr& exchange, const JobPtr& job) const {
  RequestFacts facts{.model = job->model->name(),
                     .sentences = std::ssize(job->texts),
                     .source_pieces = job->Tokens()};
  for (const EncoderText& text : job->texts) {
    if (context_.options.log_text) facts.text += text.text + '\n';
  }
  exchange->Describe(std::move(facts));
  job->on_end = [this, exchange, weak = std::weak_ptr(job)](const std::exception_ptr& error) {
    const JobPtr done = weak.lock();
    const auto answer = [this, exchange, done, error] {
      if (!exchange->Wanted()) return;
      Attempt(exchange, [&] {
        if (error) std::rethrow_exception(error);
        const std::string& name = done->model->name();
        context_.metrics.Ran(name, std::ssize(done->texts), done->Tokens(), 0);
        exchange->Answer({200, Dump(route_.answer(done.get()))});
      });
    };
    context_.router.Continue(exchange, std::ssize(done->texts) >= kManyTexts, answer);
  };
  if (!job->model->queue().TryPut(job)) context_.router.RefuseWork();
  exchange->OnUnwanted([weak = std::weak_ptr(job)] {
    if (const auto unwanted = weak.lock()) unwanted->model->queue().Cancel(unwanted);
  });
}

}  // namespace attend
