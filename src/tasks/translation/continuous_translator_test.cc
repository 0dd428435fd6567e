#include "tasks/translation/continuous_translator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "model/model_directory.h"
#include "tasks/extend_directory.h"
#include "tasks/translation/alternatives.h"

namespace attend {
namespace {

std::shared_ptr<const Model> SmallTranslator() {
  return LoadModel(ATTEND_SOURCE_DIR "/tests/data/golden_v1");
}

// Sentences that are put in one by one; those whose text is in `unwanted` are taken back.
class TestQueue : public SentenceQueue {
 public:
  explicit TestQueue(WorkPool* pool) : pool_(pool) {}

  void Put(const Sentence* sentence) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(sentence);
    }
    pool_->Wake();
  }
  void WaitFor(size_t left) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return results.size() + dropped.size() + failed.size() >= left; });
  }

  size_t waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

  const Sentence* Next(const SearchLoad& load) override {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty() || load.sentences > 3) return nullptr;
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
  WorkPool* pool_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<const Sentence*> waiting_;
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
    sentence.options.no_repeat_ngram = i % 8 == 3 ? 2 : 0;
    sentence.options.repetition_penalty = i % 7 == 2 ? 1.3 : 1;
    sentence.options.coverage_penalty = i % 9 < 2 ? 0.2 : 0;
    sentence.options.beam_threshold = i % 8 == 6 ? 0.5 : 0;
    sentence.options.early_exit = i % 11 == 4 ? 1.1 : 0;
    sentence.options.alignments = i % 4 == 0;
    sentence.options.quality = i % 3 == 1;
    sentence.attention = i % 6 == 0;
  }
  return sentences;
}

// Until every sentence has come back.
void RunAll(const std::vector<Sentence>& sentences, ContinuousTranslator* translator,
            TestQueue* queue) {
  translator->Start(queue);
  for (const Sentence& sentence : sentences) queue->Put(&sentence);
  queue->WaitFor(sentences.size());
  translator->Stop();
}

// Translates all together, and expects what Translator gives each.
void ExpectAsAlone(const std::shared_ptr<const Model>& model,
                   const std::function<void(const ContinuousTranslator&, Sentence*)>& change = {}) {
  WorkPool pool(2);
  ContinuousTranslator continuous(Load(model), {}, &pool);
  const Translator translator(model, {.threads = 1});
  std::vector<Sentence> sentences = MixedSentences(continuous);
  for (Sentence& sentence : sentences)
    if (change) change(continuous, &sentence);
  TestQueue queue(&pool);
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
      EXPECT_EQ(got[n].quality, want[n].quality);
      EXPECT_EQ(got[n].word_quality, want[n].word_quality);
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

TEST(ContinuousTranslatorTest, EverySentenceGetsWhatItGetsAlone) {
  ExpectAsAlone(SmallTranslator());
}

TEST(ContinuousTranslatorTest, SoDoSentencesWithTermsThatTheModelReads) {
  const std::string output = testing::TempDir() + "continuous_terms";
  ExtendDirectory(ATTEND_SOURCE_DIR "/tests/data/golden_v1",
                  std::vector<std::string>{"<term>", "<is>", "</term>"}, output);
  const auto glossary = std::make_shared<const Glossary>(std::vector<GlossaryTerm>{
      {.source = "tavo", .target = "sane"}, {.source = "mipa", .target = "dosa neri"}});
  ExpectAsAlone(LoadModel(output), [&](const ContinuousTranslator& translator, Sentence* sentence) {
    sentence->options.glossary = glossary;
    sentence->attention = false;  // with it terms are not read
    translator.ReadTerms(1000, sentence);
  });
}

TEST(ContinuousTranslatorTest, WhatIsNotWantedIsDropped) {
  WorkPool pool(2);
  ContinuousTranslator continuous(Load(SmallTranslator()), {}, &pool);
  const std::vector<Sentence> sentences = MixedSentences(continuous);
  TestQueue queue(&pool);
  queue.unwanted = "lumi tavo keri";
  RunAll(sentences, &continuous, &queue);
  EXPECT_EQ(queue.dropped.size(), 12u);
  EXPECT_EQ(queue.results.size(), 48u);
}

TEST(ContinuousTranslatorTest, ABadSentenceFailsAndTheRestGoesOn) {
  const auto model = SmallTranslator();
  WorkPool pool(1);
  ContinuousTranslator continuous(Load(model), {}, &pool);
  std::vector<Sentence> sentences = MixedSentences(continuous);
  sentences[0].ids = {9999};
  TestQueue queue(&pool);
  RunAll(sentences, &continuous, &queue);
  ASSERT_EQ(queue.failed.size(), 1u);
  EXPECT_EQ(queue.failed[0], &sentences[0]);
  EXPECT_EQ(queue.results.size(), 59u);
}

TEST(ContinuousTranslatorTest, ManyModelsShareTheThreads) {
  const auto model = SmallTranslator();
  WorkPool pool(2);
  std::vector<std::unique_ptr<ContinuousTranslator>> translators;
  std::vector<std::unique_ptr<TestQueue>> queues;
  for (int i = 0; i < 5; ++i) {
    translators.push_back(
        std::make_unique<ContinuousTranslator>(Load(model), TranslatorOptions(), &pool));
    queues.push_back(std::make_unique<TestQueue>(&pool));
    translators.back()->Start(queues.back().get());
  }
  const std::vector<Sentence> sentences = MixedSentences(*translators[0]);
  for (const Sentence& sentence : sentences) {
    for (const auto& queue : queues) queue->Put(&sentence);
  }
  std::map<const Sentence*, std::string> found;
  for (const auto& queue : queues) {
    queue->WaitFor(sentences.size());
    ASSERT_EQ(queue->results.size(), sentences.size());
    for (const auto& [sentence, result] : queue->results) {
      const std::string& text = result.translation.hypotheses[0].text;
      EXPECT_EQ(found.emplace(sentence, text).first->second, text);
    }
  }
  for (const auto& translator : translators) translator->Stop();
}

// Endless ones are put in before Stop.
TEST(ContinuousTranslatorTest, WhatRunsStillFailsAtStop) {
  WorkPool pool(2);
  ContinuousTranslator continuous(Load(SmallTranslator()), {}, &pool);
  std::vector<Sentence> sentences = MixedSentences(continuous);
  sentences.resize(3);
  for (Sentence& sentence : sentences) {
    sentence.options = {.max_length = 100000, .min_length = 100000};
  }
  TestQueue queue(&pool);
  continuous.Start(&queue);
  for (const Sentence& sentence : sentences) queue.Put(&sentence);
  while (queue.waiting() > 0) std::this_thread::yield();
  continuous.Stop();
  EXPECT_EQ(queue.failed.size(), 3u);
}

TEST(ContinuousTranslatorTest, OutputsBeginAndGoOnAsTheTranslatorS) {
  const auto model = SmallTranslator();
  WorkPool pool(2);
  ContinuousTranslator continuous(Load(model), {}, &pool);
  const Translator translator(model, {.threads = 1});
  const std::string text = "lumi tavo keri", beginning = "so mi";
  Sentence sentence;
  sentence.text = text;
  sentence.ids = continuous.Encode(text);
  sentence.prefix = continuous.EncodeBeginning(text, beginning, /*protect=*/true);
  Sentence next = sentence;
  next.next_words = 4;
  TestQueue queue(&pool);
  RunAll({sentence}, &continuous, &queue);
  const auto want = translator.Translate({&text, 1}, {}, {&beginning, 1})[0].hypotheses[0];
  const Hypothesis& got = queue.results[0].second.translation.hypotheses[0];
  EXPECT_TRUE(got.text.starts_with(beginning)) << got.text;
  EXPECT_EQ(got.text, want.text);
  EXPECT_EQ(got.score, want.score);

  TestQueue tokens(&pool);
  RunAll({next}, &continuous, &tokens);
  const auto prefixes = continuous.LongerPrefixes(next, tokens.results[0].second);
  ASSERT_GT(prefixes.size(), 1U);
  std::vector<Sentence> rests(prefixes.size(), sentence);
  for (size_t i = 0; i < rests.size(); ++i) {
    ASSERT_EQ(prefixes[i].size(), sentence.prefix.size() + 1);
    rests[i].prefix = prefixes[i];
  }
  TestQueue found(&pool);
  RunAll(rests, &continuous, &found);
  std::map<const Sentence*, Translation> by_sentence;
  for (auto& [each, result] : found.results) by_sentence[each] = std::move(result.translation);
  std::vector<Translation> translations;
  for (const Sentence& rest : rests) translations.push_back(by_sentence.at(&rest));
  const Translation best = BestByNextWord(std::move(translations), beginning, 4);
  const Translation expected = translator.Alternatives(text, beginning, 4);
  ASSERT_EQ(best.hypotheses.size(), expected.hypotheses.size());
  for (size_t i = 0; i < best.hypotheses.size(); ++i) {
    EXPECT_EQ(best.hypotheses[i].text, expected.hypotheses[i].text);
    EXPECT_EQ(best.hypotheses[i].score, expected.hypotheses[i].score);
  }
}

}  // namespace
}  // namespace attend
