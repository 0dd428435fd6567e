// Outputs that are drawn, over a stepper that knows a table.
#include "search/sample_search.h"

#include <gtest/gtest.h>

#include "search/search_batch.h"

namespace attend {
namespace {

constexpr int32_t kEnd = 3;

// After a token comes the next higher one, its probability a half; from 9 on, eos. Remembers what
// it read.
class CountingStepper : public Stepper {
 public:
  void Reset(int64_t beam_size) override { read_.assign(4 * beam_size, {}), beam_ = beam_size; }
  void Start(std::span<const NewSentence> sentences) override {
    for (const NewSentence& sentence : sentences) read_[sentence.index * beam_].clear();
  }
  void Step(std::span<const StepRow> rows, int64_t k, Candidate* best) override {
    ++steps_;
    for (const StepRow& row : rows) {
      read_[row.hypothesis].push_back(row.token);
      if (!row.asks) continue;
      EXPECT_EQ(row.most, 1);
      const int64_t wanted = row.sampling == nullptr ? 1 : std::ssize(row.sampling->draws);
      for (int64_t i = 0; i < wanted; ++i) {
        const bool end = row.token >= 9 && row.may_end;
        best[i] = {end ? kEnd : row.token + 1 + static_cast<int32_t>(i), -0.5};
        if (row.sampling != nullptr) asked_.push_back(row.sampling->draws[i]);
        if (row.sampling != nullptr)
          seen_.assign(row.sampling->seen.begin(), row.sampling->seen.end());
      }
      best += k;
    }
  }
  void Reorder(int64_t sentence, std::span<const int32_t> parents) override {
    const auto before = read_;
    for (size_t i = 0; i < parents.size(); ++i) {
      read_[sentence * beam_ + i] = before[sentence * beam_ + parents[i]];
    }
  }

  int64_t steps_ = 0;
  std::vector<std::vector<int32_t>> read_;  // by hypothesis
  std::vector<Draw> asked_;
  std::vector<int32_t> seen_;

 private:
  int64_t beam_ = 1;
};

SearchInput InputOf(std::vector<int32_t> prompt, const SampleOptions& sample, int64_t max_length) {
  SearchInput input;
  input.prompt = std::move(prompt);
  input.max_length = max_length;
  input.sample = sample;
  return input;
}

TEST(SampleSearchTest, AGreedyOutputEndsAtEosOrItsLength) {
  const SampleOptions greedy{.sampling = {.temperature = 0}};
  const std::vector<SearchInput> inputs = {InputOf({2, 4, 7}, greedy, 20),
                                           InputOf({2, 4}, greedy, 3), InputOf({}, greedy, 1)};
  CountingStepper stepper;
  const auto found = SearchAll(inputs, {.max_beam_size = 2}, &stepper);
  EXPECT_EQ(found[0][0].ids, (std::vector<int32_t>{8, 9}));
  EXPECT_TRUE(found[0][0].finished);
  EXPECT_EQ(found[0][0].log_probability, -1.5);
  EXPECT_EQ(found[0][0].token_log_probabilities, std::vector<double>(3, -0.5));
  EXPECT_EQ(found[1][0].ids, (std::vector<int32_t>{5, 6, 7}));
  EXPECT_FALSE(found[1][0].finished);
  EXPECT_TRUE(found[2][0].ids.empty());  // eos follows bos
  EXPECT_EQ(stepper.steps_, 3);          // a prompt takes one step
  EXPECT_TRUE(stepper.asked_.empty());
}

TEST(SampleSearchTest, ManyOutputsReadThePromptOnceAndDrawWithNumbersOfTheirOwn) {
  const SampleOptions three{.sampling = {.repetition_penalty = 2}, .count = 3, .seed = 5};
  const SearchInput input = InputOf({2, 4}, three, 2);
  CountingStepper stepper;
  const auto found = SearchAll({&input, 1}, {.max_beam_size = 3}, &stepper)[0];
  ASSERT_EQ(found.size(), 3u);
  for (int32_t s = 0; s < 3; ++s) {
    EXPECT_EQ(found[s].ids, (std::vector<int32_t>{5 + s, 6 + s}));
    EXPECT_EQ(stepper.read_[s], (std::vector<int32_t>{2, 4, 5 + s}));
  }
  ASSERT_EQ(stepper.asked_.size(), 6u);
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(stepper.asked_[i].key, DrawKey(5, std::vector<int32_t>{2, 4}));
    EXPECT_EQ(stepper.asked_[i].sample, i % 3);
    EXPECT_EQ(stepper.asked_[i].step, i / 3);
  }
  EXPECT_EQ(stepper.seen_, (std::vector<int32_t>{2, 4, 7}));
}

TEST(SampleSearchTest, OutputsEndOneByOne) {
  const SampleOptions three{.count = 3};
  SearchInput input = InputOf({2, 6}, three, 9);
  input.options.min_length = 3;
  CountingStepper stepper;
  const auto found = SearchAll({&input, 1}, {.max_beam_size = 3}, &stepper)[0];
  EXPECT_EQ(found[0].ids, (std::vector<int32_t>{7, 8, 9}));
  EXPECT_EQ(found[1].ids, (std::vector<int32_t>{8, 9, 10}));
  EXPECT_EQ(found[2].ids, (std::vector<int32_t>{9, 10, 11}));  // no eos before the third
}

class StoppingQueue : public SearchQueue {
 public:
  explicit StoppingQueue(const SearchInput* input) : input_(input) {}
  const SearchInput* Next(const SearchLoad&) override { return std::exchange(input_, nullptr); }
  void Done(const SearchInput&, std::vector<SearchResult> results) override {
    results_ = std::move(results);
  }
  bool Grew(const SearchInput&, const Growth& growth) override {
    EXPECT_EQ(growth.ids.size(), growth.token_log_probabilities.size());
    return growth.sample == 1 || growth.ids.back() != 7;
  }
  std::vector<SearchResult> results_;

 private:
  const SearchInput* input_;
};

TEST(SampleSearchTest, AQueueEndsAnOutput) {
  const SearchInput input = InputOf({2, 4}, {.count = 2}, 9);
  StoppingQueue queue(&input);
  CountingStepper stepper;
  SearchQueued({.max_beam_size = 2}, &queue, &stepper);
  ASSERT_EQ(queue.results_.size(), 2u);
  EXPECT_EQ(queue.results_[0].ids, (std::vector<int32_t>{5, 6, 7}));
  EXPECT_FALSE(queue.results_[0].finished);
  EXPECT_EQ(queue.results_[1].ids, (std::vector<int32_t>{6, 7, 8, 9}));
  EXPECT_TRUE(queue.results_[1].finished);
}

TEST(SampleSearchTest, WhatRunsTogetherHasRoomForItsOutputs) {
  const std::vector<SearchInput> inputs(2, InputOf({2, 4}, {.count = 2}, 50));
  EXPECT_EQ(inputs[0].tokens(), 102);
  CountingStepper together, one_by_one;
  SearchAll(inputs, {.max_beam_size = 2}, &together, {.tokens = 204});
  SearchAll(inputs, {.max_beam_size = 2}, &one_by_one, {.tokens = 203});
  EXPECT_EQ(one_by_one.steps_, 2 * together.steps_);
}

TEST(SampleSearchTest, ABeamAfterAPromptHasRoomForItsHypotheses) {
  SearchInput input = InputOf({2, 4}, {}, 50);
  input.sample.reset();
  input.options.beam_size = 3;
  EXPECT_EQ(input.tokens(), 152);
  input.prompt.clear();  // a translation
  EXPECT_EQ(input.tokens(), kLeastSourceTokens);
}

}  // namespace
}  // namespace attend
