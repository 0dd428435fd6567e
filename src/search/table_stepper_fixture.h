// A model of seven tokens for tests of searches: the next token's probabilities hang on the last
// two.
#ifndef ATTEND_SEARCH_TABLE_STEPPER_FIXTURE_H_
#define ATTEND_SEARCH_TABLE_STEPPER_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "search/stepper.h"

namespace attend {

inline constexpr int32_t kVocabulary = 7, kEos = 3;

// log P(next | last two tokens), at random.
inline std::vector<Candidate> Next(uint64_t seed, int32_t before, int32_t last) {
  Random random({seed, static_cast<uint64_t>(before + 1), static_cast<uint64_t>(last)});
  std::vector<Candidate> next;
  double sum = 0;
  for (int32_t id = kEos; id < kVocabulary; ++id) {
    next.push_back({id, random.Normal() * 1.5});
    sum += std::exp(next.back().log_probability);
  }
  for (Candidate& candidate : next) candidate.log_probability -= std::log(sum);
  return next;
}

// How much the step that reads a token looks at id number `s` of a source of so many.
inline float Looks(uint64_t seed, int32_t token, size_t s, size_t count) {
  double sum = 0, own = 0;
  for (size_t i = 0; i < count; ++i) {
    Random random({seed, 77, static_cast<uint64_t>(token), i});
    const double share = std::exp(random.Normal() * 2);
    sum += share;
    if (i == s) own = share;
  }
  return static_cast<float>(own / sum);
}

class TableStepper : public WholeStepper {
 public:
  explicit TableStepper(uint64_t seed) : seed_(seed) {}
  void Reset(int64_t beam_size) override {
    beam_size_ = beam_size;
    last_.clear();
    before_.clear();
  }
  void Start(std::span<const NewSentence> sentences) override {
    live_ += std::ssize(sentences);
    most_live_ = std::max(most_live_, live_);
    for (const NewSentence& sentence : sentences) {
      const size_t hypotheses = (sentence.index + 1) * beam_size_;
      if (last_.size() < hypotheses) last_.resize(hypotheses, -2), before_.resize(hypotheses, -2);
      // Results hang on the source: the first token's past is not the same for all.
      last_[sentence.index * beam_size_] = -1 - sentence.source[0];
    }
  }
  void Step(std::span<const StepRow> rows, int64_t k, Candidate* best) override {
    for (const StepRow& row : rows) {
      std::vector<Candidate> next = After(row);
      if (!row.asks) continue;
      std::stable_sort(next.begin(), next.end(), [](const Candidate& a, const Candidate& b) {
        return a.log_probability > b.log_probability;
      });
      if (!row.may_end) std::erase_if(next, [](const Candidate& c) { return c.id == kEos; });
      if (row.forced >= 0)
        std::erase_if(next, [&](const Candidate& c) { return c.id != row.forced; });
      std::vector<Candidate> also;
      for (const int32_t id : row.also) {
        also.push_back(*std::find_if(next.begin(), next.end(),
                                     [&](const Candidate& c) { return c.id == id; }));
      }
      std::erase_if(next, [&](const Candidate& c) {
        return std::find(row.never.begin(), row.never.end(), c.id) != row.never.end();
      });
      next.insert(next.begin(), also.begin(), also.end());
      next.resize(std::min<size_t>(next.size(), k));
      std::copy(next.begin(), next.end(), best);
      best += k;
    }
  }
  void Reorder(int64_t sentence, std::span<const int32_t> parents) override {
    const std::vector<int32_t> last = last_, before = before_;
    const int64_t first = sentence * beam_size_;
    live_ -= parents.empty();
    for (int64_t i = 0; i < beam_size_; ++i) {
      const bool lives = i < std::ssize(parents);
      last_[first + i] = lives ? last[first + parents[i]] : -2;
      before_[first + i] = lives ? before[first + parents[i]] : -2;
    }
  }

  int64_t vocabulary_size() const override { return kVocabulary; }
  void Read(std::span<const StepRow> rows) override {
    read_.clear();
    for (const StepRow& row : rows) {
      std::vector<Candidate> next = After(row);
      if (row.asks) read_.push_back(std::move(next));
    }
  }
  // Logits are not normalised.
  void AllLogits(int64_t first, int64_t count, float* logits_CV, double* log_sums_C) override {
    for (int64_t r = 0; r < count; ++r) {
      log_sums_C[r] = 2.5;
      std::fill_n(logits_CV + r * kVocabulary, kVocabulary, -1e30F);
      for (const Candidate& next : read_[first + r])
        logits_CV[r * kVocabulary + next.id] = static_cast<float>(next.log_probability + 2.5);
    }
  }

  // Sentences that were live at once.
  int64_t most_live() const { return most_live_; }

 private:
  // What may follow the row, which is read.
  std::vector<Candidate> After(const StepRow& row) {
    EXPECT_NE(last_[row.hypothesis], -2) << "a hypothesis that nobody started";
    before_[row.hypothesis] = last_[row.hypothesis];
    last_[row.hypothesis] = row.token;
    for (size_t s = 0; s < row.attention.size(); ++s)
      row.attention[s] = Looks(seed_, row.token, s, row.attention.size());
    return Next(seed_, before_[row.hypothesis], row.token);
  }

  uint64_t seed_;
  int64_t beam_size_ = 1, live_ = 0, most_live_ = 0;
  std::vector<int32_t> last_, before_;
  std::vector<std::vector<Candidate>> read_;
};

}  // namespace attend

#endif  // ATTEND_SEARCH_TABLE_STEPPER_FIXTURE_H_
