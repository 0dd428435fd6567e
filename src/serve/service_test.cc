#include "serve/service.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <latch>
#include <mutex>
#include <new>
#include <thread>

#include "attend/error.h"
#include "base/json.h"
#include "serve/tasks/translation/language_detector.h"
#include "serve/tasks/translation/native_api.h"

namespace attend {
namespace {

HttpRequest TranslationOf(const std::string& text) {
  HttpRequest request;
  request.method = "POST";
  request.path = "/v1/translate";
  request.content_type = "application/json";
  request.body = R"({"split_sentences": false, "text": ")" + text + "\"}";
  return request;
}

class TestExchange : public Exchange {
 public:
  explicit TestExchange(HttpRequest request) : Exchange(std::move(request)) {}

  void Describe(RequestFacts) override { described = true; }
  void Hold(std::shared_ptr<void> resource) override {
    const std::lock_guard lock(mutex_);
    held_ = std::move(resource);
  }
  // The client has read all of its answer.
  void Written() {
    const std::lock_guard lock(mutex_);
    held_ = nullptr;
  }
  void Answer(HttpResponse answer) override {
    const std::lock_guard lock(mutex_);
    ++answers;
    if (response.status == 0) response = std::move(answer);
    settled_.notify_all();
  }
  void SendEvent(std::string) override {
    if (on_event) on_event();
  }
  void EndEvents() override {}
  void Limit(std::chrono::milliseconds) override {}
  bool Wanted() const override { return !wanted || wanted(); }
  void OnUnwanted(std::function<void()> call) override {
    const std::lock_guard lock(mutex_);
    unwanted = std::move(call);
    settled_.notify_all();
  }

  // Until it has an answer or is in the queue.
  void Wait() {
    std::unique_lock lock(mutex_);
    settled_.wait(lock, [this] { return response.status != 0 || unwanted; });
  }

  void WaitForAnswer() {
    std::unique_lock lock(mutex_);
    settled_.wait(lock, [this] { return response.status != 0; });
  }
  bool Answered() {
    const std::lock_guard lock(mutex_);
    return response.status != 0;
  }

  std::function<bool()> wanted;
  std::function<void()> on_event;
  HttpResponse response{.status = 0, .body = ""};  // status 0: none yet
  int answers = 0;                                 // of which the first is the response
  bool described = false;                          // the request came as far as the queue
  std::function<void()> unwanted;                  // it is there

 private:
  std::mutex mutex_;
  std::condition_variable settled_;
  std::shared_ptr<void> held_;
};

std::shared_ptr<SentenceJob> JobOfOneSentence(const ServedTranslator& model) {
  auto job = std::make_shared<SentenceJob>();
  JobSentence& sentence = job->sentences.emplace_back();
  sentence.ids = model.translator().source().Encode("lumi");
  return job;
}

constexpr const char* kGolden = ATTEND_SOURCE_DIR "/tests/data/golden_v1";
constexpr const char* kLanguageModel = ATTEND_SOURCE_DIR "/tests/data/golden_language_model";

class ServiceTest : public testing::Test {
 protected:
  explicit ServiceTest(int64_t queue_sentences = 4096, int64_t request_limit = 0,
                       std::vector<std::string> models = {std::string("golden=") + kGolden})
      : options_{.model = std::move(models),
                 .queue_sentences = queue_sentences,
                 .request_limit = request_limit} {}

  ~ServiceTest() override { Stop(); }

  // Ends all threads, with what they hold of a test.
  void Stop() {
    service_.Close();
    models_.Stop();
  }

  // A request on its way.
  std::shared_ptr<TestExchange> Ask(const HttpRequest& request,
                                    std::function<bool()> wanted = nullptr) {
    auto exchange = std::make_shared<TestExchange>(request);
    exchange->wanted = std::move(wanted);
    service_.Handle(exchange);
    return exchange;
  }

  // The worker of such a request does nothing more until `release`.
  void HoldWorker(const HttpRequest& request, std::latch* release) {
    const auto busy = std::make_shared<std::latch>(1);
    Ask(request, [busy, release] {
      busy->count_down();
      release->wait();
      return false;
    });
    busy->wait();
  }

  ServedTranslator& Translator(size_t index) {
    return dynamic_cast<ServedTranslator&>(*models_.models()[index]);
  }

  // Waits until the worker of small requests has done what it had.
  void AwaitSmallWorker() { Ask(TranslationOf(""))->WaitForAnswer(); }

  void AwaitEngine() {
    for (const auto& model : models_.models()) {
      while (model->live() + model->waiting() > 0) std::this_thread::yield();
    }
  }

  // The engine's only thread is busy with `blocker` until `release`.
  void HoldEngine(const std::shared_ptr<SentenceJob>& blocker, std::latch* release) {
    const auto busy = std::make_shared<std::latch>(1);
    blocker->on_sentence = [busy, release](const JobSentence&) {
      busy->count_down();
      release->wait();
    };
    blocker->on_end = [](const std::exception_ptr&) {};
    ASSERT_TRUE(Translator(0).queue().TryPut(blocker));
    busy->wait();
  }

  const ServeOptions options_;
  ModelStore models_{options_, 1, [](const char*, const std::string&, const std::string&) {}};
  const ApiKeys keys_{""};
  Metrics metrics_;
  Service service_{options_, &models_, &keys_, &metrics_};
};

TEST_F(ServiceTest, MemoryThatRanOutIsNoInternalError) {
  const HttpResponse response =
      ResponseTo(std::make_exception_ptr(std::bad_alloc()), ErrorForm::kPlain);
  EXPECT_EQ(response.status, 503);
  EXPECT_NE(response.body.find("out of memory; send less text"), std::string::npos);
  EXPECT_EQ(response.headers, (HttpHeaders{{"Retry-After", "5"}}));
  EXPECT_EQ(response.failure, "out of memory");
}

TEST_F(ServiceTest, AnInternalErrorHasAReasonForTheLog) {
  const auto failure = [](const auto& error) {
    const HttpResponse response = ResponseTo(std::make_exception_ptr(error), ErrorForm::kPlain);
    return std::to_string(response.status) + " " + response.failure;
  };
  EXPECT_EQ(failure(Error(ErrorKind::kRuntime, "ICU is gone")), "500 ICU is gone");
  EXPECT_EQ(failure(std::logic_error("a fault")), "500 a fault");
  EXPECT_EQ(failure(Error(ErrorKind::kInput, "no text")), "400 ");
}

TEST_F(ServiceTest, WhatItsWorkerHasNoRoomForIsRefusedAtOnce) {
  std::latch busy(2), release(1);
  const auto held = [&] {
    busy.count_down();
    release.wait();
    return false;
  };
  const auto small = TranslationOf("lumi"), large = TranslationOf(std::string(20000, 'x'));
  Ask(small, held);
  Ask(large, held);
  busy.wait();
  for (const HttpRequest& request : {small, large}) {
    std::shared_ptr<TestExchange> last;
    for (int i = 0; i < 1000 && (i == 0 || last->response.status == 0); ++i) last = Ask(request);
    EXPECT_EQ(last->response.status, 503);
    EXPECT_EQ(last->response.headers, (HttpHeaders{{"Retry-After", "1"}}));
  }
  release.count_down();
  Stop();
}

TEST_F(ServiceTest, ASmallRequestDoesNotWaitBehindALargeOne) {
  std::latch release(1);
  HoldWorker(TranslationOf(std::string(20000, 'x')), &release);
  const auto small = Ask(TranslationOf(""));
  small->WaitForAnswer();
  EXPECT_EQ(small->response.status, 200);
  release.count_down();
  Stop();
}

// A file of a few kilobytes may unpack to hundreds of megabytes.
TEST_F(ServiceTest, PicturesAreUnpackedBesideSmallRequests) {
  std::latch release(1);
  HoldWorker(TranslationOf(std::string(20000, 'x')), &release);
  HttpRequest request = TranslationOf("");
  request.path = "/v1/classify";
  request.body = R"({"picture": "AAAA"})";
  const auto picture = Ask(request);
  AwaitSmallWorker();
  EXPECT_FALSE(picture->Answered());
  request.body = R"({"text": "lumi"})";
  const auto text = Ask(request);
  text->WaitForAnswer();
  EXPECT_EQ(text->response.status, 400);  // no model classifies
  release.count_down();
  picture->WaitForAnswer();
  EXPECT_EQ(picture->response.status, 400);
}

TEST_F(ServiceTest, ABodyIsNotKeptUntilTheAnswer) {
  std::latch release(1);
  HoldEngine(JobOfOneSentence(Translator(0)), &release);
  const HttpRequest request = TranslationOf("lumi");
  const auto exchange = Ask(request);
  exchange->Wait();  // in the queue
  EXPECT_EQ(exchange->request().body, "");
  EXPECT_EQ(exchange->body_bytes(), request.body.size());
  release.count_down();
  exchange->WaitForAnswer();
  EXPECT_EQ(exchange->response.status, 200);
}

TEST_F(ServiceTest, WorkEndsOnceNobodyWaitsForIt) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "Lumi tavo. ";
  int asked = 0;
  const auto exchange = Ask(TranslationOf(text), [&] { return ++asked < 20; });
  exchange->Wait();
  EXPECT_EQ(exchange->response.status, 504);
  EXPECT_EQ(asked, 20);
}

TEST_F(ServiceTest, WhatIsSurelyTooLongIsNotEncoded) {
  for (const int size : {34000000, 40000000}) {
    int asked = 0;
    const auto exchange = Ask(TranslationOf(std::string(size, 'x')), [&] { return ++asked > 0; });
    exchange->Wait();
    EXPECT_EQ(exchange->response.status, 400);
    EXPECT_NE(exchange->response.body.find("bytes, expected at most"), std::string::npos);
    EXPECT_LE(asked, 2);  // before it begins, and for each text
  }
}

TEST_F(ServiceTest, AStreamThatFailsEndsItsJob) {
  HttpRequest request = TranslationOf("lumi");
  request.body = R"({"stream": true, "min_length": 50, "max_length": 50, "text": ["lumi")";
  for (int i = 1; i < 1000; ++i) request.body += ", \"lumi\"";
  request.body += "]}";
  const auto exchange = std::make_shared<TestExchange>(request);
  std::atomic<int> events = 0;
  exchange->on_event = [&] {
    ++events;
    throw std::bad_alloc();
  };
  service_.Handle(exchange);
  exchange->WaitForAnswer();
  EXPECT_EQ(exchange->response.status, 503);
  AwaitEngine();
  AwaitSmallWorker();
  EXPECT_EQ(events, 1);
}

// What takes long to write is written by the worker of large requests, which is held here.
TEST_F(ServiceTest, AttentionIsWrittenBesideSmallAnswers) {
  std::latch release(1);
  HoldWorker(TranslationOf(std::string(20000, 'x')), &release);
  HttpRequest request = TranslationOf("lumi");
  request.body = R"({"attention": true, "text": "lumi"})";
  const auto asked = Ask(request);
  asked->Wait();  // in the queue
  AwaitEngine();
  for (int i = 0; i < 20; ++i) Ask(TranslationOf("lumi"))->WaitForAnswer();
  EXPECT_FALSE(asked->Answered());
  release.count_down();
  asked->WaitForAnswer();
  EXPECT_EQ(asked->response.status, 200);
}

// Of requests with attention as many are taken as memory surely has room for.
TEST_F(ServiceTest, AttentionWaitsForThoseBeforeToBeRead) {
  HttpRequest request = TranslationOf("lumi");
  request.body = R"({"attention": true, "text": "lumi"})";
  std::vector<std::shared_ptr<TestExchange>> read;
  while (read.size() < 100) {
    read.push_back(Ask(request));
    read.back()->WaitForAnswer();
    if (read.back()->response.status != 200) break;
  }
  EXPECT_EQ(read.size(), 9);
  EXPECT_EQ(read.back()->response.status, 503);
  read[0]->Written();
  for (int status = 503; status == 503;) {  // the job itself goes a moment after its answer
    const auto next = Ask(request);
    next->WaitForAnswer();
    status = next->response.status;
    EXPECT_TRUE(status == 200 || status == 503);
  }
}

// Of a text that its vocabulary normalises to nothing.
TEST_F(ServiceTest, ASentenceWithoutPiecesHasNoAttention) {
  JobSentence sentence;
  sentence.attention = true;
  sentence.result.translation.hypotheses.resize(2);
  const Json json = SentenceToJson(Translator(0), sentence);
  EXPECT_EQ(json["hypotheses"].size(), 2);
  EXPECT_FALSE(json.contains("attention"));
}

class LanguageModelServiceTest : public ServiceTest {
 protected:
  LanguageModelServiceTest() : ServiceTest(4096, 0, {kLanguageModel}) {}

  static HttpRequest CompletionOf(int tokens) {
    HttpRequest request;
    request.method = "POST";
    request.path = "/v1/completions";
    request.content_type = "application/json";
    const std::string number = std::to_string(tokens);
    request.body = R"({"prompt": "The", "logprobs": 0, "max_tokens": )" + number +
                   R"(, "min_tokens": )" + number + "}";
    return request;
  }
};

TEST_F(LanguageModelServiceTest, LongCompletionsAreWrittenBesideSmallAnswers) {
  std::latch release(1);
  HttpRequest large = CompletionOf(1);
  large.body += std::string(20000, ' ');
  HoldWorker(large, &release);
  const auto asked = Ask(CompletionOf(2000));
  asked->Wait();  // in the queue
  AwaitEngine();
  for (int i = 0; i < 20; ++i) {
    const auto small = Ask(CompletionOf(9));
    small->WaitForAnswer();
    EXPECT_EQ(small->response.status, 200);
  }
  EXPECT_FALSE(asked->Answered());
  release.count_down();
  asked->WaitForAnswer();
  EXPECT_EQ(asked->response.status, 200);
}

class LimitedServiceTest : public ServiceTest {
 protected:
  LimitedServiceTest() : ServiceTest(4096, 1) {}
};

// It is answered by the thread that brings it.
TEST_F(LimitedServiceTest, WhoAsksTooOftenTroublesNoWorker) {
  HttpRequest libre = TranslationOf("lumi");
  libre.path = "/translate";
  Ask(libre)->WaitForAnswer();
  EXPECT_EQ(Ask(libre)->response.status, 429);
  EXPECT_EQ(Ask(TranslationOf("lumi"))->response.status, 429);
}

class FullServiceTest : public ServiceTest {
 protected:
  FullServiceTest() : ServiceTest(1) {}
};

// Room that goes between a worker's looks at the queue.
TEST_F(FullServiceTest, EveryRequestIsAnsweredOrHeld) {
  ServedTranslator& model = Translator(0);
  std::latch release(1);
  const auto blocker = JobOfOneSentence(model), filler = JobOfOneSentence(model);
  HoldEngine(blocker, &release);
  const auto held = Ask(TranslationOf("lumi"));
  held->Wait();
  EXPECT_EQ(held->response.status, 0);
  held->unwanted();  // the client leaves
  int looks = 0;
  const auto late = Ask(TranslationOf("lumi"), [&] {
    if (++looks == 2) model.queue().TryPut(filler);  // the worker has seen that there is room
    return true;
  });
  late->Wait();
  EXPECT_EQ(late->response.status, 503);
  EXPECT_TRUE(late->described);
  EXPECT_FALSE(late->unwanted);
  model.queue().Cancel(filler);
  release.count_down();
  Stop();
}

// A copy of the golden model that says it is from another language.
std::string GoldenFrom(const std::string& language) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) /
      ("service_test." + std::to_string(getpid()) + "." + language);
  std::filesystem::copy(kGolden, folder);
  const std::string file = folder / "config.json";
  Json config = Json::parse(std::ifstream(file));
  config["model"]["languages"] = {language, "en"};
  std::ofstream(file) << config;
  return folder;
}

class TwoModelsTest : public ServiceTest {
 protected:
  TwoModelsTest() : ServiceTest(4096, 0, {GoldenFrom("de"), GoldenFrom("fr")}) {}
  ~TwoModelsTest() override {
    Stop();
    for (const std::string& folder : options_.model) std::filesystem::remove_all(folder);
  }

  void SetUp() override {
    if (!HasLanguageDetector()) GTEST_SKIP() << "built without CLD2 (libcld2-dev)";
  }

  // So many texts, German and French by turns.
  static HttpRequest Mixed(int texts) {
    HttpRequest request = TranslationOf("");
    Json text = Json::array();
    for (int i = 0; i < texts; ++i) {
      text.push_back(i % 2 == 0 ? "Ein Hund rennt im Schnee." : "Un chien court dans la neige.");
    }
    request.body = R"({"source": "auto", "text": )" + text.dump() + "}";
    return request;
  }
};

TEST_F(TwoModelsTest, WhereOneModelFailsTheOtherStopsAndOneAnswerSaysSo) {
  std::latch release(1);
  HoldEngine(JobOfOneSentence(Translator(0)), &release);
  RequestQueue& german = Translator(0).queue();
  RequestQueue& french = Translator(1).queue();
  const auto exchange = Ask(Mixed(4));
  exchange->Wait();
  EXPECT_EQ(german.waiting(), 2);
  EXPECT_EQ(french.waiting(), 2);
  const auto failure = std::make_exception_ptr(Error(ErrorKind::kRuntime, "no such luck"));
  const JobItem* taken = german.Next({});
  french.Failed(*french.Next({}), failure);
  exchange->WaitForAnswer();
  AwaitSmallWorker();
  EXPECT_EQ(exchange->response.status, 500);
  EXPECT_EQ(german.waiting() + french.waiting(), 0);
  EXPECT_FALSE(RequestQueue::Wanted(*taken));
  german.Failed(*taken, failure);
  AwaitSmallWorker();
  EXPECT_EQ(exchange->answers, 1);
  release.count_down();
  Stop();
}

TEST_F(TwoModelsTest, BothFailAndThereIsOneAnswer) {
  std::latch release(1);
  HoldEngine(JobOfOneSentence(Translator(0)), &release);
  const auto exchange = Ask(Mixed(2));
  exchange->Wait();
  std::latch both(1);
  HoldWorker(TranslationOf(""), &both);
  for (const size_t model : {0, 1}) {
    RequestQueue& queue = Translator(model).queue();
    queue.Failed(*queue.Next({}),
                 std::make_exception_ptr(Error(ErrorKind::kRuntime, "no such luck")));
  }
  both.count_down();
  AwaitSmallWorker();
  EXPECT_EQ(exchange->answers, 1);
  EXPECT_EQ(exchange->response.status, 500);
  release.count_down();
  Stop();
}

}  // namespace
}  // namespace attend
