#include "serve/tasks/served_encoder.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <future>
#include <latch>
#include <mutex>

#include "attend/error.h"
#include "tasks/label_model_fixture.h"

namespace attend {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// A model on one thread, which is busy until `release_` opens.
class ServedEncoderTest : public testing::Test {
 protected:
  ServedEncoderTest() {
    busy_ = Put("busy", {"busy"});
    began_.wait();
  }
  ~ServedEncoderTest() override {
    Release();
    model_->Stop();
  }

  struct Asked {
    std::shared_ptr<EncoderJob> job;
    std::shared_ptr<std::promise<std::exception_ptr>> end =
        std::make_shared<std::promise<std::exception_ptr>>();

    // Waits. Empty: it has its answers.
    std::string Failure() {
      try {
        if (const auto error = end->get_future().get()) std::rethrow_exception(error);
      } catch (const Error& error) {
        return error.what();
      }
      return "";
    }
  };

  Asked Put(const std::string& key, const std::vector<std::string>& texts) {
    Asked asked{std::make_shared<EncoderJob>()};
    asked.job->model = model_;
    asked.job->call = std::make_shared<const EncoderCall>(EncoderCall{
        key,
        [this](const ServedEncoder&, std::span<EncoderText* const> batch) { return Run(batch); }});
    for (const std::string& text : texts) {
      asked.job->texts.emplace_back().text = text;
      model_->TakeText("text", &asked.job->texts.back());
    }
    asked.job->on_end = [end = asked.end](const std::exception_ptr& error) {
      end->set_value(error);
    };
    EXPECT_TRUE(model_->queue().TryPut(asked.job));
    return asked;
  }
  void Release() {
    if (!release_.try_wait()) release_.count_down();
  }
  std::vector<std::vector<std::string>> batches() {
    const std::lock_guard lock(mutex_);
    return batches_;
  }

 private:
  std::vector<Json> Run(std::span<EncoderText* const> batch) {
    std::vector<std::string> texts = TextsOf(batch);
    if (texts[0] == "busy") {
      began_.count_down();
      release_.wait();
    }
    const bool bad = std::ranges::find(texts, "bad") != texts.end();
    const std::vector<Json> answers(texts.begin(), texts.end());
    {
      const std::lock_guard lock(mutex_);
      std::ranges::sort(texts);
      batches_.push_back(std::move(texts));
    }
    if (bad) throw Error(ErrorKind::kInput, "a bad text");
    return answers;
  }

  std::latch began_{1}, release_{1};
  std::mutex mutex_;
  std::vector<std::vector<std::string>> batches_;
  WorkPool pool_{1};
  const std::shared_ptr<ServedEncoder> model_ = std::make_shared<ServedEncoder>(
      ModelToServe{"model", "", Load(MakeLabelModel("classification", Pooling::kMean, {"a", "b"}))},
      std::vector<std::string>{"/v1/embeddings"}, ServeOptions(), &pool_);
  Asked busy_;
};

TEST_F(ServedEncoderTest, TextsOfEqualCallsShareABatch) {
  Asked first = Put("one", {"a", "b"}), second = Put("other", {"c"}), third = Put("one", {"d"});
  Release();
  for (Asked* asked : {&first, &second, &third}) EXPECT_EQ(asked->Failure(), "");
  EXPECT_THAT(batches(), UnorderedElementsAre(ElementsAre("busy"), ElementsAre("a", "b", "d"),
                                              ElementsAre("c")));
  EXPECT_EQ(first.job->texts[1].answer, "b");
  EXPECT_EQ(third.job->texts[0].answer, "d");
}

TEST_F(ServedEncoderTest, ABadTextFailsItsOwnRequestAlone) {
  Asked good = Put("one", {"a", "b"}), bad = Put("one", {"c", "bad"});
  Release();
  EXPECT_EQ(bad.Failure(), "a bad text");
  EXPECT_EQ(good.Failure(), "");
  EXPECT_EQ(good.job->texts[0].answer, "a");
}

TEST_F(ServedEncoderTest, TextsThatNobodyWaitsForDoNotRun) {
  Asked gone = Put("one", {"a"}), last = Put("one", {"b"});
  gone.job->model->queue().Cancel(gone.job);
  Release();
  EXPECT_EQ(last.Failure(), "");
  EXPECT_THAT(batches(), ElementsAre(ElementsAre("busy"), ElementsAre("b")));
}

TEST_F(ServedEncoderTest, ABatchHasNoMoreTokensThanAStep) {
  std::string text = "lumi";
  for (int i = 0; i < 499; ++i) text += " lumi";
  Asked first = Put("one", {text}), second = Put("one", {text, "a"});
  Release();
  EXPECT_EQ(first.Failure() + second.Failure(), "");
  EXPECT_THAT(batches(), ElementsAre(ElementsAre("busy"), ElementsAre(text), ElementsAre(text),
                                     ElementsAre("a")));
}

}  // namespace
}  // namespace attend
