#include "serve/http_server.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <thread>
#include <vector>

#include "attend/error.h"
#include "serve/host_names.h"
#include "serve/http_session.h"

namespace attend {
namespace {

namespace net = boost::asio;
using ErrorCode = boost::system::error_code;
using Clock = std::chrono::steady_clock;

// As many open files as the system lets this process have.
void RaiseFileLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Everything on the server's strand.
struct Listener {
  Listener(const net::any_io_executor& strand, bool monitoring)
      : acceptor(strand), timer(strand), monitoring(monitoring) {}

  net::ip::tcp::acceptor acceptor;
  net::steady_timer timer;
  const bool monitoring;
};

// Throws as HttpServer does; `option` names the host.
void Listen(const std::string& host, int64_t port, const std::string& option, Listener* listener) {
  ErrorCode error;
  const auto address = net::ip::make_address(host, error);
  if (error) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("{} is '{}', expected an address as 127.0.0.1, 0.0.0.0 or ::1", option, host));
  }
  try {
    const net::ip::tcp::endpoint endpoint(address, static_cast<uint16_t>(port));
    listener->acceptor.open(endpoint.protocol());
    listener->acceptor.set_option(net::socket_base::reuse_address(true));
    listener->acceptor.bind(endpoint);
    listener->acceptor.listen(net::socket_base::max_listen_connections);
  } catch (const boost::system::system_error& failed) {
    const bool in_use = failed.code() == net::error::address_in_use;
    throw Error(ErrorKind::kRuntime,
                fmt::format("can't listen on {} port {}: {}; choose another {}", host, port,
                            failed.code().message(),
                            option == "host" ? (in_use ? "--port" : "--host or --port")
                                             : "--metrics-address"));
  }
}

}  // namespace

struct HttpServer::Impl {
  Impl(const HttpOptions& options, HttpCallbacks callbacks)
      : shared(options, std::move(callbacks)) {}

  HttpShared shared;  // outlives the context, whose handlers hold connections that look at it
  net::io_context context;
  net::any_io_executor strand = net::make_strand(context);
  Listener service{strand, false}, monitoring{strand, true};
  net::signal_set signals{strand, SIGINT, SIGTERM, SIGHUP};
  net::steady_timer timer{strand};
  Clock::time_point give_up;

  void ListenForMetrics();
  void Accept(Listener* listener);
  void OnAccepted(Listener* listener, ErrorCode error, net::ip::tcp::socket socket);
  void WaitForSignal();
  void Stop();
  void StopWhenDone();
  std::vector<std::shared_ptr<HttpSession>> Open();
};

void HttpServer::Impl::ListenForMetrics() {
  const std::string& text = shared.options.metrics_address;
  if (text.empty()) return;
  const auto given = ParseHostName(text);
  const int64_t port = given && !given->port.empty() ? std::stoll(given->port) : -1;
  if (port < 0 || port > 65535) {
    throw Error(ErrorKind::kUsage,
                fmt::format("metrics_address is '{}', expected an address and a port as "
                            "127.0.0.1:9464 or [::1]:9464",
                            text));
  }
  const std::string& name = given->name;
  const bool bracketed = name.starts_with('[');
  Listen(bracketed ? name.substr(1, name.size() - 2) : name, port, "metrics_address", &monitoring);
}

void HttpServer::Impl::Accept(Listener* listener) {
  listener->acceptor.async_accept(net::make_strand(context),
                                  [this, listener](ErrorCode error, net::ip::tcp::socket socket) {
                                    OnAccepted(listener, error, std::move(socket));
                                  });
}

void HttpServer::Impl::OnAccepted(Listener* listener, ErrorCode error,
                                  net::ip::tcp::socket socket) {
  if (shared.stopping) return;
  if (error) {  // no file is free, say: wait until some connection ends
    listener->timer.expires_after(std::chrono::milliseconds(100));
    listener->timer.async_wait([this, listener](ErrorCode cancelled) {
      if (!cancelled) Accept(listener);
    });
    return;
  }
  size_t open = 0;
  {
    const std::lock_guard lock(shared.mutex);
    open = shared.sessions.size();
  }
  const auto session =
      std::make_shared<HttpSession>(std::move(socket), &shared, listener->monitoring);
  if (static_cast<int64_t>(open) < shared.options.connections) {
    session->Start();
  } else {
    session->TurnAway();
  }
  Accept(listener);
}

void HttpServer::Impl::WaitForSignal() {
  signals.async_wait([this](ErrorCode error, int signal) {
    if (error) return;
    WaitForSignal();
    if (signal == SIGHUP) return shared.callbacks.reload();
    if (shared.stopping) return context.stop();
    Stop();
  });
}

void HttpServer::Impl::Stop() {
  shared.stopping = true;
  shared.callbacks.stopping();
  for (Listener* listener : {&service, &monitoring}) {
    ErrorCode ignored;
    listener->timer.cancel();
    listener->acceptor.close(ignored);
  }
  for (const auto& session : Open()) session->CloseIfIdle();
  const std::chrono::duration<double> patience(shared.options.stop_timeout);
  give_up = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
  StopWhenDone();
}

std::vector<std::shared_ptr<HttpSession>> HttpServer::Impl::Open() {
  std::vector<std::shared_ptr<HttpSession>> open;
  const std::lock_guard lock(shared.mutex);
  for (const auto& [key, session] : shared.sessions) {
    if (auto live = session.lock()) open.push_back(std::move(live));
  }
  return open;
}

void HttpServer::Impl::StopWhenDone() {
  {
    const std::lock_guard lock(shared.mutex);
    if (shared.sessions.empty() || Clock::now() > give_up) return context.stop();
  }
  timer.expires_after(std::chrono::milliseconds(20));
  timer.async_wait([this](ErrorCode) { StopWhenDone(); });
}

HttpServer::HttpServer(const HttpOptions& options, HttpCallbacks callbacks)
    : impl_(new Impl(options, std::move(callbacks))) {
  RaiseFileLimit();
  Listen(options.host, options.port, "host", &impl_->service);
  impl_->ListenForMetrics();
}

HttpServer::~HttpServer() = default;

int HttpServer::port() const { return impl_->service.acceptor.local_endpoint().port(); }

int HttpServer::metrics_port() const {
  const auto& acceptor = impl_->monitoring.acceptor;
  return acceptor.is_open() ? acceptor.local_endpoint().port() : 0;
}

void HttpServer::Run(int threads) {
  impl_->WaitForSignal();
  for (Listener* listener : {&impl_->service, &impl_->monitoring}) {
    if (!listener->acceptor.is_open()) continue;
    net::post(impl_->strand, [this, listener] { impl_->Accept(listener); });
  }
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back([this] { impl_->context.run(); });
  impl_->context.run();
  for (std::thread& thread : others) thread.join();
  for (const auto& session : impl_->Open()) session->Close();
}

}  // namespace attend
