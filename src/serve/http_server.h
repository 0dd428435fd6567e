// HTTP/1.1 over TCP: connections, limits, time-outs, graceful stop. Knows nothing of translation.
#ifndef ATTEND_SERVE_HTTP_SERVER_H_
#define ATTEND_SERVE_HTTP_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "serve/http_message.h"

namespace attend {

struct HttpOptions {
  std::string host = "127.0.0.1";          // an address
  int64_t port = 5000;                     // 0: any that is free
  std::string metrics_address;             // and its port, for metrics alone; empty: none
  std::vector<std::string> trusted_proxy;  // networks of those whose X-Forwarded-... count
  int64_t connections = 16384;
  std::string cors_origin;  // whose pages may read answers; "*": all; empty: none
  int64_t max_header_bytes = 16384;
  int64_t max_body_bytes = 1 << 20;
  int64_t max_upload_bytes = 25 << 20;  // of a body with files, where that is more
  // Seconds.
  double idle_timeout = 60;   // between requests
  double read_timeout = 10;   // for a whole header, and again for each max_body_bytes of a body
  double write_timeout = 60;  // for a whole answer, or an event
  double stop_timeout = 30;   // for what was accepted, once the server stops
};

// What the server calls, from its own threads.
struct HttpCallbacks {
  HttpHandler handle;
  HttpObserver answered;
  std::function<ErrorForm(const std::string& path)> errors;
  std::function<bool(const std::string& path)> takes_files;  // whether bodies there may have files
  std::function<void()> reload;                              // SIGHUP came
  std::function<void()> stopping;                            // SIGTERM or SIGINT came
};

class HttpServer {
 public:
  // Listens. Throws Error(kUsage) for a host that is no address, Error(kRuntime) for one that can't
  // be listened on.
  HttpServer(const HttpOptions& options, HttpCallbacks callbacks);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // The port listened on.
  int port() const;
  // That of metrics_address; 0 where there is none.
  int metrics_port() const;
  // Serves until SIGTERM or SIGINT: then no connection is accepted any more, what was asked is
  // answered, and what is not within stop_timeout is given up. A second signal gives up at once.
  void Run(int threads);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_HTTP_SERVER_H_
