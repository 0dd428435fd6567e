// HTTP as the routes see it: a request, an answer, and the exchange between them.
#ifndef ATTEND_SERVE_HTTP_MESSAGE_H_
#define ATTEND_SERVE_HTTP_MESSAGE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace attend {

// The body of an error: {"error": message}, or what the OpenAI API's clients read.
enum class ErrorForm { kPlain, kOpenAi };

struct HttpRequest {
  std::string method, path, query;  // path and query as they were sent, not decoded
  std::string content_type, authorization;
  std::string host;     // of the target, or else as the header has it; empty: none
  std::string local;    // address and port of this end, as in a URL
  std::string origin;   // of the page that sends it; empty: the browser names none
  std::string site;     // Sec-Fetch-Site: how that page stands to us
  std::string id;       // of the request, in its answer and in logs
  std::string client;   // its address
  std::string network;  // what a limit counts: of IPv6 the network, for a client has 2^64 addresses
  std::string scheme = "http", prefix;   // by which the client asks, where a proxy tells
  bool monitoring = false;               // came to the address of metrics
  ErrorForm errors = ErrorForm::kPlain;  // of its path
  std::string body;
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpResponse {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  HttpHeaders headers = {};  // names and values of our own
  std::string failure = "";  // why the server could not do what was asked; for the log
};

HttpResponse ErrorResponse(ErrorForm form, int status, const std::string& message,
                           HttpHeaders headers = {});
// 503, to whom may come again after so many seconds.
HttpResponse BusyResponse(ErrorForm form, const std::string& message, int seconds);

// A server-sent event of one line of data; `name` may be empty.
std::string ToEvent(const std::string& name, const std::string& data);

// What a request was about, for log and metrics.
struct RequestFacts {
  std::string model;
  int64_t sentences = 0;  // or prompts, or texts
  int64_t source_pieces = 0;
  std::string key;   // the name of the client's
  std::string text;  // only where logs may hold it
};

// What became of it.
struct AnswerFacts {
  int status = 0;
  double seconds = 0;   // since the request was read
  std::string failure;  // as HttpResponse has it
};

// One request on its way to an answer. Everything may be called from any thread.
class Exchange {
 public:
  explicit Exchange(HttpRequest request)
      : request_(std::move(request)), body_bytes_(request_.body.size()) {}
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const HttpRequest& request() const { return request_; }
  // The body, for whoever reads it: the exchange does not keep it until the answer. Not thread-safe
  // with itself.
  std::string TakeBody() { return std::exchange(request_.body, {}); }
  // Of the body as it came.
  size_t body_bytes() const { return body_bytes_; }
  // A second call replaces the facts, except the name of the key.
  virtual void Describe(RequestFacts facts) = 0;

  // Keeps the resource until the whole answer is written, or nobody waits for it.
  virtual void Hold(std::shared_ptr<void> resource) = 0;
  // Only the first answer is sent. After events it becomes the last event, `error`.
  virtual void Answer(HttpResponse response) = 0;
  // Instead of an answer: sends one server-sent event, including its empty line.
  virtual void SendEvent(std::string event) = 0;
  virtual void EndEvents() = 0;

  // Answers 504 if there is no other answer within this time after the request was read.
  virtual void Limit(std::chrono::milliseconds limit) = 0;
  // False once nobody waits for an answer: the client has left, or the limit has passed.
  virtual bool Wanted() const = 0;
  // Calls `call` when nobody waits any more, at once if that is so already. Not after an answer.
  virtual void OnUnwanted(std::function<void()> call) = 0;

 private:
  HttpRequest request_;
  const size_t body_bytes_;
};

// Called once for each whole request.
using HttpHandler = std::function<void(const std::shared_ptr<Exchange>&)>;
// Called once for each answer sent; `request` is empty where none could be read.
using HttpObserver = std::function<void(const HttpRequest& request, const RequestFacts& facts,
                                        const AnswerFacts& answer)>;

}  // namespace attend

#endif  // ATTEND_SERVE_HTTP_MESSAGE_H_
