// HTTP as the routes see it: a request, an answer, and the exchange between them.
#ifndef ATTEND_SERVE_HTTP_MESSAGE_H_
#define ATTEND_SERVE_HTTP_MESSAGE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace attend {

struct HttpRequest {
  std::string method, path, query;  // path and query as they were sent, not decoded
  std::string content_type, authorization, origin, host;
  std::string client;  // its address; of IPv6 its network's, for it has 2^64 of them
  std::string body;
};

struct HttpResponse {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};  // names and values of our own
};

// {"error": message}
HttpResponse ErrorResponse(int status, const std::string& message);

// What a request was about, for log and metrics; set by whoever answers it.
struct RequestFacts {
  std::string model;
  int64_t sentences = 0;
  int64_t source_pieces = 0;
  std::string text;  // only where logs may hold it
};

// One request on its way to an answer. Answers may come from any thread; the first one counts.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const HttpRequest& request() const = 0;
  virtual RequestFacts& facts() = 0;

  virtual void Answer(HttpResponse response) = 0;
  // Or a stream of server-sent events: `event` is a whole one, with its empty line.
  virtual void SendEvent(std::string event) = 0;
  virtual void EndEvents() = 0;

  // To be called by the handler before it returns. Once `limit` has passed, 504 is the answer;
  // `abandoned` is called then, and when the client hangs up before the answer.
  virtual void Limit(std::chrono::milliseconds limit, std::function<void()> abandoned) = 0;
};

// Called once for each whole request.
using HttpHandler = std::function<void(const std::shared_ptr<Exchange>&)>;
// Called once for each answer sent; `request` is empty where none could be read.
using HttpObserver = std::function<void(const HttpRequest& request, const RequestFacts& facts,
                                        int status, double seconds)>;

}  // namespace attend

#endif  // ATTEND_SERVE_HTTP_MESSAGE_H_
