// One connection. Included by the files of the HTTP server alone: it brings in Boost.Beast.
#ifndef ATTEND_SERVE_HTTP_SESSION_H_
#define ATTEND_SERVE_HTTP_SESSION_H_

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "serve/http_server.h"
#include "serve/trusted_proxies.h"
#include "serve/upload_slots.h"

namespace attend {

class HttpSession;

// What connections share.
struct HttpShared {
  HttpShared(const HttpOptions& options, HttpCallbacks callbacks)
      : options(options), callbacks(std::move(callbacks)), proxies(options.trusted_proxy) {}

  const HttpOptions options;
  const HttpCallbacks callbacks;
  const TrustedProxies proxies;
  std::atomic<bool> stopping{false};
  UploadSlots uploads{8, 4};  // of bodies above max_body_bytes

  std::mutex mutex;  // of sessions
  std::unordered_map<HttpSession*, std::weak_ptr<HttpSession>> sessions;
};

// Everything but the constructor, Start, TurnAway and CloseIfIdle runs on the connection's strand.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  // `monitoring`: it came to the address of metrics.
  HttpSession(boost::asio::ip::tcp::socket socket, HttpShared* shared, bool monitoring);
  ~HttpSession();

  void Start();
  // Answers 503 whatever is asked, and closes.
  void TurnAway();
  // The server stops: ends a connection that is between requests.
  void CloseIfIdle();
  // Lets go of everything. On the strand, or once no thread serves any more.
  void Close();

 private:
  class Live;
  using Error = boost::beast::error_code;
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  void WaitForRequest();
  void ReadHeader();
  void OnHeader(Error error);
  std::string Path() const;
  // Bytes that the body of this request may have.
  int64_t BodyLimit() const;
  // Whether it may be read, by its header; else it is answered.
  bool AdmitBody();
  void ReadBody();
  // Whether more of it may be read than has come; else it is answered. Each max_body_bytes that
  // come give it the time again, and with the first it needs a slot.
  bool AdmitMore();
  void RefuseUpload();
  HttpRequest Unread() const;
  void Dispatch();
  bool RefuseUnread(Error error);
  // The status and reason with which a header is refused; 0: it is taken.
  std::pair<int, const char*> Judge() const;
  void Refuse(HttpResponse response);
  void Refuse(int status, const std::string& message);

  void WatchForHangUp();
  void Abandon();
  void Write(const Live* exchange, HttpResponse response);
  void OnWritten(Error error, bool keep_alive);
  void StartEvents(const Live* exchange);
  void SendEvent(const Live* exchange, std::string event);
  // The stream is whole with what was sent; the log says that it ended as `response` does.
  void EndEvents(const Live* exchange, const HttpResponse& response);
  void WriteNextEvent();
  void WriteEnd();
  void Hold(const Live* exchange, std::shared_ptr<void> resource);
  void SetLimit(const Live* exchange, std::chrono::milliseconds limit);
  void Report(int status, const std::string& failure);
  void Linger();
  void Discard();

  boost::beast::tcp_stream stream_;
  HttpShared* shared_;
  const bool monitoring_;
  boost::asio::ip::address peer_;
  std::string id_;  // of the request that is read or answered
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::shared_ptr<void> upload_;  // the slot of a large body that is read
  size_t parts_ = 0;              // of max_body_bytes that have come of the body
  bool idle_ = false;
  bool head_ = false, keep_alive_ = false;
  unsigned version_ = 11;
  std::shared_ptr<Live> current_;  // until its answer begins
  std::shared_ptr<Live> streaming_;
  std::deque<std::string> events_;
  std::optional<std::pair<int, std::string>> end_;  // of the stream: status and failure
  std::shared_ptr<void> held_;                      // until the answer is written
  bool writing_ = false;
  boost::asio::steady_timer limit_;
  int64_t discarded_ = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVE_HTTP_SESSION_H_
