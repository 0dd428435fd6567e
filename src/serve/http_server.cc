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

}  // namespace

struct HttpServer::Impl {
  HttpShared shared;  // outlives the context, whose handlers hold connections that look at it
  net::io_context context;
  net::ip::tcp::acceptor acceptor{net::make_strand(context)};
  net::signal_set signals{acceptor.get_executor(), SIGINT, SIGTERM, SIGHUP};
  net::steady_timer timer{acceptor.get_executor()};
  Clock::time_point give_up;

  void Listen();
  void Accept();
  void OnAccepted(ErrorCode error, net::ip::tcp::socket socket);
  void WaitForSignal();
  void Stop();
  void StopWhenDone();
  std::vector<std::shared_ptr<HttpSession>> Open();
};

void HttpServer::Impl::Listen() {
  const HttpOptions& options = shared.options;
  ErrorCode error;
  const auto address = net::ip::make_address(options.host, error);
  if (error) {
    throw Error(ErrorKind::kUsage,
                fmt::format("host is '{}', expected an address as 127.0.0.1, 0.0.0.0 or ::1",
                            options.host));
  }
  try {
    const net::ip::tcp::endpoint endpoint(address, static_cast<uint16_t>(options.port));
    acceptor.open(endpoint.protocol());
    acceptor.set_option(net::socket_base::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen(net::socket_base::max_listen_connections);
  } catch (const boost::system::system_error& failed) {
    throw Error(
        ErrorKind::kRuntime,
        fmt::format("can't listen on {} port {}: {}; choose another --{}", options.host,
                    options.port, failed.code().message(),
                    failed.code() == net::error::address_in_use ? "port" : "host or --port"));
  }
}

void HttpServer::Impl::Accept() {
  acceptor.async_accept(net::make_strand(context),
                        [this](ErrorCode error, net::ip::tcp::socket socket) {
                          OnAccepted(error, std::move(socket));
                        });
}

void HttpServer::Impl::OnAccepted(ErrorCode error, net::ip::tcp::socket socket) {
  if (shared.stopping) return;
  if (error) {  // no file is free, say: wait until some connection ends
    timer.expires_after(std::chrono::milliseconds(100));
    timer.async_wait([this](ErrorCode cancelled) {
      if (!cancelled) Accept();
    });
    return;
  }
  size_t open = 0;
  {
    const std::lock_guard lock(shared.mutex);
    open = shared.sessions.size();
  }
  const auto session = std::make_shared<HttpSession>(std::move(socket), &shared);
  if (static_cast<int64_t>(open) < shared.options.connections) {
    session->Start();
  } else {
    session->TurnAway();
  }
  Accept();
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
  timer.cancel();
  ErrorCode ignored;
  acceptor.close(ignored);
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

HttpServer::HttpServer(const HttpOptions& options, HttpCallbacks callbacks) : impl_(new Impl) {
  RaiseFileLimit();
  impl_->shared.options = options;
  impl_->shared.callbacks = std::move(callbacks);
  impl_->Listen();
}

HttpServer::~HttpServer() = default;

int HttpServer::port() const { return impl_->acceptor.local_endpoint().port(); }

void HttpServer::Run(int threads) {
  impl_->WaitForSignal();
  net::post(impl_->acceptor.get_executor(), [this] { impl_->Accept(); });
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back([this] { impl_->context.run(); });
  impl_->context.run();
  for (std::thread& thread : others) thread.join();
  for (const auto& session : impl_->Open()) session->Close();
}

}  // namespace attend
