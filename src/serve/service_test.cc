#include "serve/service.h"

#include <gtest/gtest.h>

#include <latch>
#include <new>
#include <thread>

namespace attend {
namespace {

class TestExchange : public Exchange {
 public:
  explicit TestExchange(HttpRequest request) : request_(std::move(request)) {}

  const HttpRequest& request() const override { return request_; }
  RequestFacts& facts() override { return facts_; }
  void Answer(HttpResponse response) override { status = response.status; }
  void SendEvent(std::string) override {}
  void EndEvents() override {}
  void Limit(std::chrono::milliseconds, std::function<void()> abandoned) override {
    abandon = std::move(abandoned);
  }

  int status = 0;                 // 0: no answer yet
  std::function<void()> abandon;  // set where the request came as far as the queue

 private:
  const HttpRequest request_;
  RequestFacts facts_;
};

std::shared_ptr<Job> JobOfOneSentence(const ServedModel& model) {
  auto job = std::make_shared<Job>();
  JobSentence& sentence = job->sentences.emplace_back();
  sentence.ids = model.translator().source().Encode("lumi");
  return job;
}

TEST(ServiceTest, MemoryThatRanOutIsNoInternalError) {
  const HttpResponse response = ResponseTo(std::make_exception_ptr(std::bad_alloc()));
  EXPECT_EQ(response.status, 503);
  EXPECT_NE(response.body.find("out of memory; send less text"), std::string::npos);
}

// Room that comes and goes between a handler's looks at the queue.
TEST(ServiceTest, EveryRequestIsAnsweredOrHeld) {
  ServeOptions options;
  options.model = {"golden=" ATTEND_SOURCE_DIR "/tests/data/golden_v1"};
  options.queue_sentences = 1;
  ModelStore models(options, 1, [](const std::string&, const std::string&) {});
  const ApiKeys keys("");
  Metrics metrics;
  const Service service(options, &models, &keys, &metrics);
  ServedModel& model = *models.Find("golden", "", "");

  std::latch busy(1), release(1);  // the engine's only thread takes nothing off the queue
  const auto blocker = JobOfOneSentence(model), filler = JobOfOneSentence(model);
  blocker->on_sentence = [&](const JobSentence&) {
    busy.count_down();
    release.wait();
  };
  blocker->on_end = [](const std::exception_ptr&) {};
  ASSERT_TRUE(model.queue().TryPut(blocker));
  busy.wait();
  std::jthread filling([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      model.queue().TryPut(filler);
      model.queue().Cancel(filler);
    }
  });
  HttpRequest request;
  request.method = "POST";
  request.path = "/v1/translate";
  request.content_type = "application/json";
  request.body = R"({"text": "lumi"})";
  int refused_by_the_queue = 0, taken = 0;
  for (int i = 0; i < 20000 && (refused_by_the_queue < 100 || taken < 100); ++i) {
    const auto exchange = std::make_shared<TestExchange>(request);
    service.Handle(exchange);
    const bool held = exchange.use_count() > 1;
    EXPECT_EQ(exchange->status, held ? 0 : 503) << "request " << i;
    if (HasFailure()) break;
    if (!exchange->abandon) continue;
    ++(held ? taken : refused_by_the_queue);
    exchange->abandon();
  }
  EXPECT_GT(taken, 0);
  filling.request_stop();
  filling.join();
  release.count_down();
}

}  // namespace
}  // namespace attend
