// Calls of one Translator or Scorer from many threads, and after a fork.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "attend/error.h"
#include "attend/scorer.h"
#include "attend/translator.h"
#include "model/model_directory.h"

namespace attend {
namespace {

using Sentences = std::vector<std::vector<int32_t>>;

std::shared_ptr<const Model> Golden() {
  return LoadModel(ATTEND_SOURCE_DIR "/tests/data/golden_v1");
}

Sentences SomeSentences(int64_t count) {
  Sentences sentences;
  for (int64_t i = 0; i < count; ++i) {
    sentences.emplace_back(1 + i % 7, static_cast<int32_t>(5 + i % 11));
  }
  return sentences;
}

// A call that runs until it goes out of scope.
class EndlessCall {
 public:
  explicit EndlessCall(const Translator* translator, int64_t sentences = 1)
      : thread_([this, translator, sentences] {
          const TranslationOptions options{
              .beam_size = 1, .max_length = 100000, .min_length = 100000, .stop = &stop_};
          EXPECT_THROW(translator->TranslateIds(SomeSentences(sentences), options), Error);
        }) {}
  ~EndlessCall() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

void ExpectEqual(const std::vector<Translation>& got, const std::vector<Translation>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].hypotheses.size(), want[i].hypotheses.size());
    for (size_t n = 0; n < got[i].hypotheses.size(); ++n) {
      EXPECT_EQ(got[i].hypotheses[n].ids, want[i].hypotheses[n].ids);
      EXPECT_EQ(got[i].hypotheses[n].score, want[i].hypotheses[n].score);
      EXPECT_EQ(got[i].hypotheses[n].alignment, want[i].hypotheses[n].alignment);
    }
  }
}

TEST(ConcurrentCallsTest, ACallThatIsStoppedEnds) {
  const Translator translator(Golden(), {.threads = 2});
  const auto sentences = SomeSentences(50);
  const auto expected = translator.TranslateIds(sentences, {.max_length = 12});
  std::atomic<bool> stop = false;
  TranslationOptions options{.max_length = 100000, .min_length = 100000};  // hours
  options.stop = &stop;
  for (const size_t count : {sentences.size(), size_t{1}}) {
    stop = false;
    std::jthread stopping([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      stop = true;
    });
    EXPECT_THROW(translator.TranslateIds(std::span(sentences).first(count), options), Error);
  }
  const auto found = translator.TranslateIds(sentences, {.max_length = 12});
  for (size_t i = 0; i < sentences.size(); ++i) {
    EXPECT_EQ(found[i].hypotheses[0].ids, expected[i].hypotheses[0].ids);
  }
}

TEST(ConcurrentCallsTest, EachGivesWhatItGivesAlone) {
  const auto model = Golden();
  const Translator alone(model, {.threads = 1});
  const Scorer scored_alone(model, 1);
  for (const int threads : {1, 3}) {
    const Translator translator(model, {.threads = threads});
    const Scorer scorer(model, threads);
    std::vector<std::jthread> callers;
    for (int64_t caller = 0; caller < 6; ++caller) {
      callers.emplace_back([&, caller] {
        TranslationOptions options{.beam_size = 1 + caller, .max_length = 8 + 3 * caller};
        options.n_best = caller % 2 == 0 ? 1 : options.beam_size;
        options.alignments = caller % 3 == 0;
        options.batch_tokens = caller == 4 ? 20 : 2048;
        const Sentences sentences = SomeSentences(caller == 0 ? 1 : 10 * caller);
        const auto want = alone.TranslateIds(sentences, options);
        const auto scores = scored_alone.ScoreIds(sentences, sentences);
        for (int round = 0; round < 5; ++round) {
          ExpectEqual(translator.TranslateIds(sentences, options), want);
          const auto found = scorer.ScoreIds(sentences, sentences);
          for (size_t i = 0; i < scores.size(); ++i) {
            EXPECT_EQ(found[i].log_probability, scores[i].log_probability);
          }
        }
      });
    }
  }
}

TEST(ConcurrentCallsTest, AShortCallDoesNotWaitForALongOne) {
  const auto model = Golden();
  const Sentences sentences = SomeSentences(5);
  TranslationOptions options{.max_length = 9};
  const auto want = Translator(model, {.threads = 1}).TranslateIds(sentences, options);
  for (const int threads : {1, 2, 4}) {
    const Translator translator(model, {.threads = threads});
    // One sentence, which all threads share; more than there are threads; more than there is room.
    for (const int64_t count : {1, 10, 1000}) {
      const EndlessCall endless(&translator, count);
      for (const int64_t room : {1, 1024}) {
        options.batch_sentences = room;
        ExpectEqual(translator.TranslateIds(sentences, options), want);
      }
    }
  }
}

TEST(ConcurrentCallsTest, AMistakeIsItsCallsAlone) {
  const Translator translator(Golden(), {.threads = 2});
  const EndlessCall endless(&translator);
  EXPECT_THROW(translator.TranslateIds(Sentences(1, {-1})), Error);
  const std::atomic<bool> stop{true};
  EXPECT_THROW(translator.TranslateIds(SomeSentences(3), {.stop = &stop}), Error);
  EXPECT_EQ(translator.TranslateIds(SomeSentences(3)).size(), 3u);
  const Scorer scorer(Golden(), 2);
  EXPECT_THROW(scorer.ScoreIds(SomeSentences(3), SomeSentences(3), {.stop = &stop}), Error);
}

#if !defined(__SANITIZE_THREAD__)  // it ends children that start threads
TEST(ConcurrentCallsTest, AChildTranslatesWhatItsParentLoaded) {
  const auto model = Golden();
  auto translator = std::make_unique<Translator>(model, TranslatorOptions{.threads = 3});
  auto scorer = std::make_unique<Scorer>(model, 3);
  const Sentences sentences = SomeSentences(20);
  const auto want = translator->TranslateIds(sentences);
  const double score = scorer->ScoreIds(sentences, sentences)[7].log_probability;
  const EndlessCall endless(translator.get());  // the parent's threads are in the midst of it
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    const bool fine =
        translator->TranslateIds(sentences)[3].hypotheses[0].score == want[3].hypotheses[0].score &&
        scorer->ScoreIds(sentences, sentences)[7].log_probability == score;
    if (child > 1) translator.reset(), scorer.reset();
    _exit(fine ? 0 : 1);
  }
  ExpectEqual(translator->TranslateIds(sentences), want);
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

TEST(ConcurrentCallsTest, AChildThatNeverTranslatesLetsGo) {
  auto translator = std::make_unique<Translator>(Golden(), TranslatorOptions{.threads = 3});
  const pid_t child = fork();
  if (child == 0) {
    translator.reset();
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}
#endif

}  // namespace
}  // namespace attend
