// Items whose search can't begin, over a stepper that knows a table.
#include "search/search_batch.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "search/table_stepper_fixture.h"

namespace attend {
namespace {

class BrokenRules : public OutputRules {
 public:
  std::unique_ptr<OutputGuide> Begin() const override { throw std::runtime_error("no rules"); }
};

// What an output lacks of them can't be told.
class BrokenTerms : public WantedTerms {
 public:
  std::unique_ptr<TermGuide> Begin() const override { throw std::runtime_error("no terms"); }
  int64_t TokensLeft() const override { return 1; }
  std::span<const int32_t> Tokens() const override { return tokens_; }

 private:
  const std::vector<int32_t> tokens_ = {4};
};

// Gives its inputs one after another, and remembers which came back how.
class ListedQueue : public SearchQueue {
 public:
  explicit ListedQueue(std::span<const SearchInput> inputs) : inputs_(inputs) {}
  const SearchInput* Next(const SearchLoad& load) override {
    loads_.push_back(load);
    return next_ < limit_ ? &inputs_[next_++] : nullptr;
  }
  void Done(const SearchInput& input, std::vector<SearchResult> results) override {
    EXPECT_FALSE(results.empty());
    done_.push_back(&input - inputs_.data());
  }
  void Failed(const SearchInput& input, const std::exception_ptr&) override {
    failed_.push_back(&input - inputs_.data());
  }
  // Lets this many of the inputs come, from the first on.
  void Open(size_t count) { limit_ = count; }

  std::vector<SearchLoad> loads_;
  std::vector<int64_t> done_, failed_;

 private:
  std::span<const SearchInput> inputs_;
  size_t next_ = 0, limit_ = 0;
};

using Items = std::vector<int64_t>;

SearchInput PlainInput() { return {.source = {5}, .max_length = 6, .options = {.beam_size = 2}}; }

void ExpectEmpty(const SearchLoad& load) {
  EXPECT_EQ(load.sentences, 0);
  EXPECT_EQ(load.tokens, 0);
  EXPECT_EQ(load.joining, 0);
}

TEST(SearchBatchTest, AnItemThatCanNotBeginLeavesTheLoadAsItWas) {
  std::vector<SearchInput> inputs(3, PlainInput());
  inputs[1].rules = std::make_shared<BrokenRules>();
  ListedQueue queue(inputs);
  TableStepper stepper(1);
  SearchBatch batch({.max_beam_size = 2}, &queue, &stepper, 0);
  queue.Open(2);
  EXPECT_THROW(batch.Admit(), std::runtime_error);
  EXPECT_EQ(batch.size(), 2);
  batch.Fail(std::make_exception_ptr(std::runtime_error("no rules")));
  EXPECT_EQ(batch.size(), 0);
  EXPECT_EQ(queue.failed_, (Items{0, 1}));
  queue.loads_.clear();
  queue.Open(3);
  batch.Admit();
  ExpectEmpty(queue.loads_[0]);
  ASSERT_EQ(batch.size(), 1);
  while (batch.size() > 0) batch.Step();
  EXPECT_EQ(queue.done_, Items{2});
}

TEST(SearchBatchTest, ASecondSearchThatCanNotBeginFailsItsItemAlone) {
  std::vector<SearchInput> inputs(3, PlainInput());
  inputs[1].terms = std::make_shared<BrokenTerms>();
  ListedQueue queue(inputs);
  TableStepper stepper(1);
  SearchBatch batch({.max_beam_size = 8}, &queue, &stepper, 0);
  queue.Open(3);
  batch.Admit();
  for (int64_t step = 0; step < 20 && batch.size() > 0; ++step) batch.Step();
  EXPECT_EQ(batch.size(), 0);
  EXPECT_EQ(queue.failed_, Items{1});
  EXPECT_EQ(queue.done_, (Items{0, 2}));
  queue.loads_.clear();
  batch.Admit();
  ExpectEmpty(queue.loads_[0]);
}

}  // namespace
}  // namespace attend
