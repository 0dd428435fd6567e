#include "serve/http_session.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <limits>
#include <sstream>
#include <utility>

#include "serve/http_live.h"
#include "serve/request_target.h"

namespace attend {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace net = boost::asio;
using Clock = std::chrono::steady_clock;

constexpr size_t kFirstRead = 1024;
constexpr int64_t kMostDiscarded = 1 << 26;

std::chrono::nanoseconds Seconds(double seconds) {
  return std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9));
}

std::string Text(beast::string_view view) { return std::string(view.data(), view.size()); }

// As in a URL; empty once the client is gone.
std::string LocalEndOf(const net::ip::tcp::socket& socket) {
  beast::error_code error;
  std::ostringstream text;
  text << socket.local_endpoint(error);
  return error ? "" : text.str();
}

// All headers of this name, joined by commas.
template <class Fields>
std::string Joined(const Fields& fields, beast::string_view name) {
  std::string joined;
  const auto [first, end] = fields.equal_range(name);
  for (auto field = first; field != end; ++field) {
    joined += (joined.empty() ? "" : ",") + Text(field->value());
  }
  return joined;
}

template <class Message>
void SetCommonHeaders(const HttpOptions& options, const std::string& id, Message* message) {
  message->set(http::field::server, "attend");
  message->set("X-Request-Id", id);
  if (!options.cors_origin.empty()) {
    message->set("Access-Control-Allow-Origin", options.cors_origin);
    message->set("Access-Control-Expose-Headers", "X-Request-Id, Retry-After");
    message->set(http::field::vary, "Origin");
  }
  message->set("X-Content-Type-Options", "nosniff");
  message->set("X-Frame-Options", "DENY");
  message->set("Referrer-Policy", "no-referrer");
  message->set("Content-Security-Policy",
               "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; "
               "form-action 'self'");
  message->set(http::field::cache_control, "no-store");
}

}  // namespace

HttpSession::HttpSession(net::ip::tcp::socket socket, HttpShared* shared, bool monitoring)
    : stream_(std::move(socket)),
      shared_(shared),
      monitoring_(monitoring),
      limit_(stream_.get_executor()) {
  Error ignored;
  peer_ = stream_.socket().remote_endpoint(ignored).address();
  stream_.socket().set_option(net::ip::tcp::no_delay(true), ignored);
}

HttpSession::~HttpSession() {
  const std::lock_guard lock(shared_->mutex);
  shared_->sessions.erase(this);
}

void HttpSession::Start() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->sessions.emplace(this, weak_from_this());
  }
  net::dispatch(stream_.get_executor(), [self = shared_from_this()] { self->WaitForRequest(); });
}

void HttpSession::TurnAway() {
  net::dispatch(stream_.get_executor(), [self = shared_from_this()] {
    self->Refuse(BusyResponse(ErrorForm::kPlain, "too many connections; try again later", 1));
  });
}

void HttpSession::CloseIfIdle() {
  net::post(stream_.get_executor(), [self = shared_from_this()] {
    if (self->idle_) self->Close();
  });
}

void HttpSession::WaitForRequest() {
  if (shared_->stopping) return Linger();
  if (buffer_.size() > 0) return ReadHeader();  // the client did not wait for the answer before
  idle_ = true;
  stream_.expires_after(Seconds(shared_->options.idle_timeout));
  stream_.async_read_some(buffer_.prepare(kFirstRead),
                          [self = shared_from_this()](Error error, size_t count) {
                            if (error) return self->Close();
                            self->buffer_.commit(count);
                            self->ReadHeader();
                          });
}

// The time runs for the header as a whole: a byte now and then does not win more.
void HttpSession::ReadHeader() {
  idle_ = false;
  head_ = false;
  version_ = 11;
  id_.clear();
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(shared_->options.max_header_bytes));
  parser_->body_limit(std::numeric_limits<uint64_t>::max());  // until AdmitBody sets it
  stream_.expires_after(Seconds(shared_->options.read_timeout));
  http::async_read_header(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](Error error, size_t) { self->OnHeader(error); });
}

bool HttpSession::RefuseUnread(Error error) {
  if (!error) return false;
  const bool foreign = error.category() != make_error_code(http::error::bad_method).category();
  if (foreign || error == http::error::end_of_stream || error == http::error::partial_message) {
    Close();
  } else if (error == http::error::header_limit) {
    Refuse(431, "the header is too large");
  } else if (error == http::error::body_limit) {
    const int64_t limit = BodyLimit();
    const bool upload = limit > shared_->options.max_body_bytes;
    Refuse(413, fmt::format("the body is larger than {} bytes; send less at once, or raise the "
                            "server's --max-{}-bytes",
                            limit, upload ? "upload" : "body"));
  } else {
    Refuse(400, "not valid HTTP: " + error.message());
  }
  return true;
}

std::pair<int, const char*> HttpSession::Judge() const {
  const auto& request = parser_->get();
  const size_t hosts = request.count(http::field::host);
  const bool named = hosts == 1 && !request[http::field::host].empty();
  if (hosts > 1 || (!named && request.version() == 11)) {
    return {400, "expected one Host header"};
  }
  const size_t encodings = request.count(http::field::transfer_encoding);
  if (encodings > 1 || (encodings == 1 && request.version() == 10)) {
    return {400, "expected at most one Transfer-Encoding header, and HTTP/1.1 for it"};
  }
  if (encodings == 1 && !beast::iequals(request[http::field::transfer_encoding], "chunked")) {
    return {501, "the only Transfer-Encoding taken is chunked"};
  }
  if (request.count(http::field::content_encoding) > 0) {
    return {415, "no Content-Encoding is taken"};
  }
  for (const auto field : {http::field::content_type, http::field::authorization}) {
    if (request.count(field) > 1) {
      return {400, "expected at most one Content-Type and one Authorization header"};
    }
  }
  HttpRequest ignored;
  if (!ReadTarget(Text(request.target()), &ignored)) {
    return {400, "expected a target that begins with /, or http:// and a host"};
  }
  return {0, ""};
}

void HttpSession::OnHeader(Error error) {
  if (RefuseUnread(error)) return;
  const auto& request = parser_->get();
  version_ = request.version();
  head_ = request.method() == http::verb::head;
  keep_alive_ = request.keep_alive();
  id_ = RequestId(Joined(request, "X-Request-Id"));
  if (const auto [status, reason] = Judge(); status != 0) {
    return Refuse(status, reason);
  }
  if (!AdmitBody()) return;
  if (!beast::iequals(request[http::field::expect], "100-continue")) return ReadBody();
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  net::async_write(stream_, net::buffer(kContinue.data(), kContinue.size()),
                   [self = shared_from_this()](Error failed, size_t) {
                     return failed ? self->Close() : self->ReadBody();
                   });
}

std::string HttpSession::Path() const {
  HttpRequest request;
  ReadTarget(Text(parser_->get().target()), &request);
  return request.path;
}

int64_t HttpSession::BodyLimit() const {
  const HttpOptions& options = shared_->options;
  if (!shared_->callbacks.takes_files(Path())) return options.max_body_bytes;
  return std::max(options.max_body_bytes, options.max_upload_bytes);
}

bool HttpSession::AdmitBody() {
  const auto limit = static_cast<uint64_t>(BodyLimit());
  const uint64_t known = parser_->content_length().value_or(0);  // 0 too where it comes in chunks
  if (known > limit) return !RefuseUnread(http::error::body_limit);
  if (known > static_cast<uint64_t>(shared_->options.max_body_bytes) &&
      !shared_->uploads.HaveRoom(Unread().network)) {
    RefuseUpload();
    return false;
  }
  parser_->body_limit(limit);
  parser_->eager(true);
  parts_ = 0;
  stream_.expires_after(Seconds(shared_->options.read_timeout));
  return true;
}

void HttpSession::ReadBody() {
  if (parser_->is_done()) return Dispatch();
  http::async_read_some(stream_, buffer_, *parser_,
                        [self = shared_from_this()](Error error, size_t) {
                          if (self->RefuseUnread(error)) return;
                          if (self->parser_->is_done() || self->AdmitMore()) self->ReadBody();
                        });
}

bool HttpSession::AdmitMore() {
  const size_t come = std::max<size_t>(1, parser_->get().body().size());
  const size_t parts = (come - 1) / static_cast<size_t>(shared_->options.max_body_bytes);
  if (parts == parts_) return true;
  parts_ = parts;
  stream_.expires_after(Seconds(shared_->options.read_timeout));
  if (upload_ == nullptr) upload_ = shared_->uploads.Take(Unread().network);
  if (upload_ == nullptr) RefuseUpload();
  return upload_ != nullptr;
}

void HttpSession::RefuseUpload() {
  Refuse(BusyResponse(shared_->callbacks.errors(Path()), "too many large requests; try again later",
                      1));
}

// What is known of a request without its first line.
HttpRequest HttpSession::Unread() const {
  HttpRequest request;
  Forwarded forwarded;
  if (parser_) {
    const auto& message = parser_->get();
    forwarded = {Joined(message, "X-Forwarded-For"), Joined(message, "X-Forwarded-Proto"),
                 Joined(message, "X-Forwarded-Prefix")};
  }
  ClientFacts client = shared_->proxies.ClientOf(peer_, forwarded);
  request.client = std::move(client.address);
  request.network = std::move(client.network);
  request.scheme = std::move(client.scheme);
  request.prefix = std::move(client.prefix);
  request.local = LocalEndOf(stream_.socket());
  request.id = id_;
  request.monitoring = monitoring_;
  return request;
}

void HttpSession::Dispatch() {
  auto& message = parser_->get();
  HttpRequest request = Unread();
  request.method = Text(message.method_string());
  request.host = Text(message[http::field::host]);
  ReadTarget(Text(message.target()), &request);
  request.errors = shared_->callbacks.errors(request.path);
  request.content_type = Text(message[http::field::content_type]);
  request.authorization = Text(message[http::field::authorization]);
  request.origin = Text(message[http::field::origin]);
  request.site = Text(message["Sec-Fetch-Site"]);
  request.body = std::move(message.body());
  parser_.reset();
  upload_.reset();
  stream_.expires_never();
  current_ = std::make_shared<Live>(shared_from_this(), std::move(request));
  WatchForHangUp();
  shared_->callbacks.handle(current_);
}

// Readable without a byte is the end. A byte is the next request, after which the end can't be
// seen.
void HttpSession::WatchForHangUp() {
  stream_.socket().async_wait(
      net::ip::tcp::socket::wait_read,
      [self = shared_from_this(), exchange = current_.get()](Error error) {
        const bool waiting = self->current_.get() == exchange || self->streaming_.get() == exchange;
        if (error || !waiting) return;
        char byte;
        const auto seen =
            recv(self->stream_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        if (seen == 0 || (seen < 0 && errno != EAGAIN && errno != EINTR)) self->Abandon();
      });
}

void HttpSession::Abandon() {
  constexpr int kClientClosedRequest = 499;  // as nginx logs it
  if (end_) {
    Report(end_->first, end_->second);  // so the stream ended, though its end could not be sent
  } else if (current_ != nullptr || streaming_ != nullptr) {
    Report(kClientClosedRequest, "");
  }
  Close();
}

void HttpSession::Hold(const Live* exchange, std::shared_ptr<void> resource) {
  if (current_.get() == exchange || streaming_.get() == exchange) held_ = std::move(resource);
}

void HttpSession::SetLimit(const Live* exchange, std::chrono::milliseconds limit) {
  const auto live = current_ != nullptr ? current_ : streaming_;
  if (live.get() != exchange || end_) return;
  limit_.expires_at(exchange->begun() + limit);
  limit_.async_wait([self = shared_from_this(), live](Error error) {
    if (error) return;
    live->Abandon();
    self->Write(live.get(), ErrorResponse(live->request().errors, 504,
                                          "the deadline has passed; send less text at once"));
  });
}

void HttpSession::Report(int status, const std::string& failure) {
  const auto& exchange = streaming_ != nullptr ? streaming_ : current_;
  if (exchange == nullptr) {
    return shared_->callbacks.answered(Unread(), {}, {status, 0, failure});
  }
  const std::chrono::duration<double> age = Clock::now() - exchange->begun();
  shared_->callbacks.answered(exchange->request(), exchange->facts(),
                              {status, age.count(), failure});
}

void HttpSession::Refuse(HttpResponse response) {
  keep_alive_ = false;
  if (parser_) parser_->get().body() = std::string();
  upload_.reset();
  if (id_.empty()) id_ = RequestId("");
  Write(nullptr, std::move(response));
}

// Of a request whose header, or a part of it, is read.
void HttpSession::Refuse(int status, const std::string& message) {
  Refuse(ErrorResponse(shared_->callbacks.errors(Path()), status, message));
}

void HttpSession::Write(const Live* exchange, HttpResponse response) {
  if (streaming_ != nullptr) {
    SendEvent(exchange, ToEvent("error", response.body));
    return EndEvents(exchange, response);
  }
  if (current_.get() != exchange) return;
  const auto message = std::make_shared<http::response<http::string_body>>();
  message->result(static_cast<unsigned>(response.status));
  message->version(version_);
  SetCommonHeaders(shared_->options, id_, message.get());
  message->set(http::field::content_type, response.content_type);
  for (const auto& [name, value] : response.headers) message->set(name, value);
  const bool keep_alive = keep_alive_ && !shared_->stopping;
  message->keep_alive(keep_alive);
  message->body() = std::move(response.body);
  message->prepare_payload();
  if (head_) message->body().clear();
  Report(response.status, response.failure);
  if (current_ != nullptr) current_->ForgetUnwanted();
  current_.reset();
  limit_.cancel();
  Error ignored;
  stream_.socket().cancel(ignored);  // the watch for the client's end
  stream_.expires_after(Seconds(shared_->options.write_timeout));
  http::async_write(stream_, *message,
                    [self = shared_from_this(), message, keep_alive](Error error, size_t) {
                      self->OnWritten(error, keep_alive);
                    });
}

void HttpSession::OnWritten(Error error, bool keep_alive) {
  held_.reset();
  if (error) return Close();
  if (!keep_alive) return Linger();
  WaitForRequest();
}

void HttpSession::StartEvents(const Live* exchange) {
  if (version_ != 11) {
    current_->Abandon();
    return Write(exchange, ErrorResponse(exchange->request().errors, 400,
                                         "a stream of events needs HTTP/1.1"));
  }
  streaming_ = std::move(current_);
  keep_alive_ = keep_alive_ && !shared_->stopping;
  const auto header = std::make_shared<http::response<http::empty_body>>(http::status::ok, 11);
  SetCommonHeaders(shared_->options, id_, header.get());
  header->set(http::field::content_type, "text/event-stream");
  header->keep_alive(keep_alive_);
  header->chunked(true);
  const auto serializer = std::make_shared<http::response_serializer<http::empty_body>>(*header);
  writing_ = true;
  stream_.expires_after(Seconds(shared_->options.write_timeout));
  http::async_write_header(stream_, *serializer,
                           [self = shared_from_this(), header, serializer](Error error, size_t) {
                             self->writing_ = false;
                             if (error) return self->Abandon();
                             self->WriteNextEvent();
                           });
}

void HttpSession::SendEvent(const Live* exchange, std::string event) {
  if (current_.get() == exchange) StartEvents(exchange);
  if (streaming_.get() != exchange || end_) return;
  events_.push_back(std::move(event));
  WriteNextEvent();
}

void HttpSession::EndEvents(const Live* exchange, const HttpResponse& response) {
  if (streaming_.get() != exchange || end_) return;
  end_ = {response.status, response.failure};
  streaming_->ForgetUnwanted();
  limit_.cancel();
  WriteNextEvent();
}

void HttpSession::WriteNextEvent() {
  if (writing_ || streaming_ == nullptr) return;
  if (events_.empty()) {
    if (end_) WriteEnd();
    return;
  }
  writing_ = true;
  stream_.expires_after(Seconds(shared_->options.write_timeout));
  const auto event = std::make_shared<std::string>(std::move(events_.front()));
  events_.pop_front();
  net::async_write(stream_, http::make_chunk(net::buffer(*event)),
                   [self = shared_from_this(), event](Error error, size_t) {
                     self->writing_ = false;
                     if (error) return self->Abandon();
                     self->stream_.expires_never();
                     self->WriteNextEvent();
                   });
}

void HttpSession::WriteEnd() {
  Report(end_->first, end_->second);
  end_.reset();
  streaming_.reset();
  Error ignored;
  stream_.socket().cancel(ignored);
  stream_.expires_after(Seconds(shared_->options.write_timeout));
  net::async_write(stream_, http::make_chunk_last(),
                   [self = shared_from_this()](Error error, size_t) {
                     self->OnWritten(error, self->keep_alive_);
                   });
}

// To close while bytes of the client wait unread would throw away the answer on its way.
void HttpSession::Linger() {
  Error ignored;
  stream_.socket().shutdown(net::ip::tcp::socket::shutdown_send, ignored);
  stream_.expires_after(std::chrono::seconds(2));
  buffer_.clear();
  Discard();
}

void HttpSession::Discard() {
  stream_.async_read_some(buffer_.prepare(kFirstRead * 16),
                          [self = shared_from_this()](Error error, size_t count) {
                            self->discarded_ += static_cast<int64_t>(count);
                            if (error || self->discarded_ > kMostDiscarded) return self->Close();
                            self->Discard();
                          });
}

void HttpSession::Close() {
  for (const auto& exchange : {current_, streaming_}) {
    if (exchange != nullptr) exchange->Abandon();
  }
  current_.reset();
  streaming_.reset();
  events_.clear();
  end_.reset();
  held_.reset();
  limit_.cancel();
  stream_.close();
}

}  // namespace attend
