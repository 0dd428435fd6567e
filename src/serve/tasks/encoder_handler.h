// Routes at which a model's encoder answers each text of a request by itself: from JSON to a job in
// the model's queue, and back.
#ifndef ATTEND_SERVE_TASKS_ENCODER_HANDLER_H_
#define ATTEND_SERVE_TASKS_ENCODER_HANDLER_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/request_queue.h"
#include "serve/task_handler.h"
#include "serve/tasks/served_encoder.h"

namespace attend {

// Where models of several tasks answer.
constexpr const char* kClassifyRoute = "/v1/classify";
constexpr const char* kEmbeddingsRoute = "/v1/embeddings";

// Of a picture or an item, about: what its attention adds to `answer_items`.
constexpr int64_t kNumbersOfAttention = 2000;

// What a request asks.
struct EncoderRequest {
  std::string model;  // its name; empty: the only one that answers at the route
  QueueOptions queue;
  EncoderReads reads = EncoderReads::kTexts;
  bool parts = false;  // of a model that reads items, each text or picture is a part of one
  std::vector<std::string> texts;               // or files, of a model that reads pictures
  std::vector<ClassifiedItem> items;            // in place of texts, of one that reads items
  std::vector<std::vector<std::string>> words;  // of each text; or empty
  int64_t answer_items = 0;  // classes, tokens or numbers that the answer may have
  EncoderCall call;

  int64_t count() const {
    return reads == EncoderReads::kItems ? std::ssize(items) : std::ssize(texts);
  }
};

// Takes from the body what it asks about: `name`, a text or a list of texts, or else `picture`, a
// PNG or JPEG file in base64 or a list of them. Throws Error(kInput) for both, and for neither,
// where `expected` tells what could be there.
void TakeItems(Json* body, const std::string& name, const std::string& expected,
               EncoderRequest* asked);
// The bytes of a picture that a request has in base64, which "data:...;base64," may precede. Throws
// Error(kInput) for another text; `name` opens the message.
std::string BytesOfPicture(std::string_view text, const std::string& name);
// The members in the description of a request, of which it must have one.
Json ItemSchemas(const std::string& name, const std::string& description);
void RequireItems(const std::string& name, Json* schema);
// Members that every request has: model, and how long it may wait.
FieldList CommonFields(EncoderRequest* asked);

struct EncoderRoute {
  const char* path;
  EncoderRequest (*read)(Json body);
  // Once all texts have their answers, which may be moved from.
  Json (*answer)(EncoderJob* job);
  // Adds the route and its schemas to the OpenAPI description.
  void (*describe)(const ModelStore& models, Json* document);
  ErrorForm errors = ErrorForm::kPlain;
  bool takes_files = false;  // in base64
};

// {"model": its name, "results": the answers}
Json ResultsToJson(EncoderJob* job);
// The operation of a route that takes the schema `request` and answers with `answer`.
Json EncoderOperation(const std::string& summary, const std::string& request,
                      const std::string& answer, ErrorForm errors = ErrorForm::kPlain);

class EncoderHandler : public TaskHandler {
 public:
  EncoderHandler(const HandlerContext& context, const EncoderRoute& route)
      : context_(context), route_(route) {}

  std::vector<Route> Routes() override;
  void Describe(Json* document) const override;

 private:
  using JobPtr = std::shared_ptr<EncoderJob>;

  void Answer(const ExchangePtr& exchange) const;
  // Throws Error(kInput) for too many texts or characters, or an answer that would be too large.
  void CheckSize(const EncoderRequest& asked) const;
  JobPtr JobFor(const Exchange& exchange, EncoderRequest asked) const;
  void Run(const ExchangePtr& exchange, const JobPtr& job) const;

  const HandlerContext context_;
  const EncoderRoute route_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_ENCODER_HANDLER_H_
