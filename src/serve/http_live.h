// One exchange of a connection. Part of http_session.cc.
#ifndef ATTEND_SERVE_HTTP_LIVE_H_
#define ATTEND_SERVE_HTTP_LIVE_H_

#include <atomic>
#include <boost/asio/post.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "serve/http_session.h"

namespace attend {

class HttpSession::Live : public Exchange, public std::enable_shared_from_this<Live> {
 public:
  Live(std::shared_ptr<HttpSession> session, HttpRequest request)
      : Exchange(std::move(request)), session_(std::move(session)) {}

  void Describe(RequestFacts facts) override {
    OnStrand([this, facts = std::move(facts)]() mutable {
      if (facts.key.empty()) facts.key = std::move(facts_.key);
      facts_ = std::move(facts);
    });
  }
  void Hold(std::shared_ptr<void> resource) override {
    OnStrand([this, resource = std::move(resource)]() mutable {
      session_->Hold(this, std::move(resource));
    });
  }
  void Answer(HttpResponse response) override {
    OnStrand([this, response = std::move(response)]() mutable {
      session_->Write(this, std::move(response));
    });
  }
  void SendEvent(std::string event) override {
    OnStrand([this, event = std::move(event)]() mutable {
      session_->SendEvent(this, std::move(event));
    });
  }
  void EndEvents() override {
    OnStrand([this] { session_->EndEvents(this, {}); });
  }
  void Limit(std::chrono::milliseconds limit) override {
    OnStrand([this, limit] { session_->SetLimit(this, limit); });
  }
  bool Wanted() const override { return wanted_; }
  void OnUnwanted(std::function<void()> call) override {
    {
      const std::lock_guard lock(mutex_);
      if (wanted_) {
        unwanted_ = std::move(call);
        return;
      }
    }
    call();
  }

  // These on the strand.
  const RequestFacts& facts() const { return facts_; }
  std::chrono::steady_clock::time_point begun() const { return begun_; }
  // The client's patience, or ours, is at its end.
  void Abandon() {
    std::function<void()> call;
    {
      const std::lock_guard lock(mutex_);
      wanted_ = false;
      call = std::exchange(unwanted_, nullptr);
    }
    if (call) call();
  }
  void ForgetUnwanted() {
    const std::lock_guard lock(mutex_);
    unwanted_ = nullptr;
  }

 private:
  template <class Call>
  void OnStrand(Call call) {
    boost::asio::post(session_->stream_.get_executor(),
                      [self = shared_from_this(), call = std::move(call)]() mutable { call(); });
  }

  std::shared_ptr<HttpSession> session_;
  RequestFacts facts_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::mutex mutex_;  // of unwanted_, and of changes to wanted_
  std::function<void()> unwanted_;
  std::atomic<bool> wanted_{true};
};

}  // namespace attend

#endif  // ATTEND_SERVE_HTTP_LIVE_H_
