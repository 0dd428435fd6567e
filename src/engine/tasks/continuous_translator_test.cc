#include "engine/tasks/continuous_translator.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "model/model_directory.h"

namespace attend {
namespace {

std::shared_ptr<const Model> Golden() {
  return LoadModel(ATTEND_SOURCE_DIR "/tests/data/golden_v1");
}

// Sentences that are put in one by one; those whose text is in `unwanted` are taken back.
class TestQueue : public SentenceQueue {
 public:
  void Put(const Sentence* sentence) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(sentence);
    wake_.notify_one();
  }
  void Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    wake_.notify_all();
  }
  void WaitFor(size_t left) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return results.size() + dropped.size() + failed.size() >= left; });
  }

  bool Wait() override {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    return !waiting_.empty();
  }
  const Sentence* Next(int64_t held) override {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty() || held > 3) return nullptr;
    const Sentence* sentence = waiting_.front();
    waiting_.pop_front();
    return sentence;
  }
  bool Wanted(const Sentence& sentence) override { return sentence.text != unwanted; }
  void Done(const Sentence& sentence, SentenceResult result) override {
    const std::lock_guard lock(mutex_);
    results.emplace_back(&sentence, std::move(result));
    wake_.notify_all();
  }
  void Dropped(const Sentence& sentence) override {
    const std::lock_guard lock(mutex_);
    dropped.push_back(&sentence);
    wake_.notify_all();
  }
  void Failed(const Sentence& sentence, std::exception_ptr) override {
    const std::lock_guard lock(mutex_);
    failed.push_back(&sentence);
    wake_.notify_all();
  }

  std::vector<std::pair<const Sentence*, SentenceResult>> results;
  std::vector<const Sentence*> dropped, failed;
  std::string unwanted = "none";

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<const Sentence*> waiting_;
  bool closed_ = false;
};

std::vector<Sentence> MixedSentences(const ContinuousTranslator& translator) {
  const std::vector<std::string> texts = {"lumi tavo keri", "sona mipa, rudu vesta!", "keri", "",
                                          "tavo tavo lumi sona"};
  std::vector<Sentence> sentences;
  for (int64_t i = 0; i < 60; ++i) {
    Sentence& sentence = sentences.emplace_back();
    sentence.text = texts[i % 5];
    sentence.ids = translator.source().Encode(sentence.text);
    sentence.options.beam_size = 1 + i % 7;
    sentence.options.n_best = 1 + i % sentence.options.beam_size;
    sentence.options.length_penalty = 0.2 * static_cast<double>(i % 4);
    sentence.options.allow_unknown = i % 3 == 0;
    sentence.options.min_length = i % 2 == 0 ? 3 : 0;
    sentence.options.max_length = 12 + i % 5;
    sentence.options.alignments = i % 4 == 0;
    sentence.attention = i % 6 == 0;
  }
  return sentences;
}

// Until every sentence has come back.
void RunAll(const std::vector<Sentence>& sentences, ContinuousTranslator* translator,
            TestQueue* queue) {
  std::thread running([&] { translator->Run(queue); });
  for (const Sentence& sentence : sentences) queue->Put(&sentence);
  queue->WaitFor(sentences.size());
  queue->Close();
  running.join();
}

TEST(ContinuousTranslatorTest, EverySentenceGetsWhatItGetsAlone) {
  const auto model = Golden();
  ContinuousTranslator continuous(model, {.threads = 2}, {.max_beam_size = 8, .tokens = 100});
  const Translator translator(model, {.threads = 1});
  const std::vector<Sentence> sentences = MixedSentences(continuous);
  TestQueue queue;
  RunAll(sentences, &continuous, &queue);
  ASSERT_EQ(queue.results.size(), sentences.size());
  for (const auto& [sentence, result] : queue.results) {
    const auto want = translator.Translate({&sentence->text, 1}, sentence->options)[0].hypotheses;
    const auto& got = result.translation.hypotheses;
    ASSERT_EQ(got.size(), want.size());
    for (size_t n = 0; n < got.size(); ++n) {
      EXPECT_EQ(got[n].text, want[n].text);
      EXPECT_EQ(got[n].score, want[n].score);
      EXPECT_EQ(got[n].alignment, want[n].alignment);
    }
    const bool attention = sentence->attention && !sentence->ids.empty();
    ASSERT_EQ(result.attention.size(), attention ? got.size() : 0);
    for (size_t n = 0; n < result.attention.size(); ++n) {
      const PairScore& one = result.attention[n];
      EXPECT_EQ(one.decoder_self[1][3].size(), got[n].ids.size() + 1);
      EXPECT_EQ(one.cross[1][3][0].size(), sentence->ids.size() + 1);
    }
  }
}

TEST(ContinuousTranslatorTest, WhatIsNotWantedIsDropped) {
  ContinuousTranslator continuous(Golden(), {.threads = 2}, {});
  const std::vector<Sentence> sentences = MixedSentences(continuous);
  TestQueue queue;
  queue.unwanted = "lumi tavo keri";
  RunAll(sentences, &continuous, &queue);
  EXPECT_EQ(queue.dropped.size(), 12u);
  EXPECT_EQ(queue.results.size(), 48u);
}

TEST(ContinuousTranslatorTest, ABadSentenceFailsAndTheRestGoesOn) {
  const auto model = Golden();
  ContinuousTranslator continuous(model, {.threads = 1}, {});
  std::vector<Sentence> sentences = MixedSentences(continuous);
  sentences[0].ids = {9999};
  TestQueue queue;
  RunAll(sentences, &continuous, &queue);
  ASSERT_EQ(queue.failed.size(), 1u);
  EXPECT_EQ(queue.failed[0], &sentences[0]);
  EXPECT_EQ(queue.results.size(), 59u);
}

}  // namespace
}  // namespace attend
