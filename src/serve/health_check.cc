#include "serve/health_check.h"

#include <fmt/format.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>

#include "attend/error.h"
#include "serve/host_names.h"

namespace attend {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using ErrorCode = boost::system::error_code;

constexpr size_t kLongestAnswer = 65536;  // bytes

// One question; each step begins the next one, and the stream's time-out ends any of them.
class Question {
 public:
  Question(net::io_context* context, const std::string& host, double seconds)
      : resolver_(*context), stream_(*context) {
    parser_.body_limit(kLongestAnswer);
    request_.method(http::verb::get);
    request_.target("/health");
    request_.set(http::field::host, host);
    request_.set(http::field::connection, "close");
    stream_.expires_after(std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000)));
  }

  void Ask(const std::string& name, const std::string& port) {
    resolver_.async_resolve(name, port, [this](ErrorCode error, const auto& endpoints) {
      if (Failed(error)) return;
      stream_.async_connect(endpoints, [this](ErrorCode failure, const auto&) {
        if (!Failed(failure)) Send();
      });
    });
  }

  ErrorCode error() const { return error_; }
  const http::response<http::string_body>& answer() const { return parser_.get(); }

 private:
  bool Failed(ErrorCode error) {
    error_ = error;
    return error.failed();
  }

  void Send() {
    http::async_write(stream_, request_, [this](ErrorCode error, size_t) {
      if (Failed(error)) return;
      http::async_read(stream_, buffer_, parser_,
                       [this](ErrorCode failure, size_t) { Failed(failure); });
    });
  }

  net::ip::tcp::resolver resolver_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::request<http::empty_body> request_;
  http::response_parser<http::string_body> parser_;
  ErrorCode error_;
};

}  // namespace

std::string CheckHealth(const std::string& address, double seconds) {
  const auto host = ParseHostName(address);
  if (!host || host->port.empty()) {
    throw Error(ErrorKind::kUsage, fmt::format("address is '{}', expected a name or an address and "
                                               "a port, as 127.0.0.1:5000 or [::1]:5000",
                                               address));
  }
  const bool bracketed = host->name.starts_with('[');
  net::io_context context;
  Question question(&context, address, seconds);
  question.Ask(bracketed ? host->name.substr(1, host->name.size() - 2) : host->name, host->port);
  context.run();
  if (question.error()) {
    throw Error(ErrorKind::kRuntime,
                question.error() == beast::error::timeout
                    ? fmt::format("no answer from {} within {} seconds", address, seconds)
                    : fmt::format("can't ask {}: {}; is `attend serve` running there?", address,
                                  question.error().message()));
  }
  const int status = question.answer().result_int();
  if (status != 200) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("{} answered with status {}, expected 200", address, status));
  }
  return question.answer().body();
}

}  // namespace attend
