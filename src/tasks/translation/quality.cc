#include "tasks/translation/quality.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace attend {

void MeanQuality::Add(const Hypothesis& hypothesis) {
  const int64_t tokens =
      std::max<int64_t>(1, std::ssize(hypothesis.ids) + (hypothesis.finished ? 1 : 0));
  log_ += static_cast<double>(tokens) * std::log(hypothesis.quality / 100);
  tokens_ += tokens;
}

double MeanQuality::Value() const {
  return 100 * std::exp(log_ / static_cast<double>(std::max<int64_t>(1, tokens_)));
}

void SetQuality(std::span<const double> log_probabilities, std::span<const int64_t> words,
                Hypothesis* hypothesis) {
  hypothesis->quality = 0;
  hypothesis->word_quality.clear();
  if (log_probabilities.empty()) return;
  const double sum = std::accumulate(log_probabilities.begin(), log_probabilities.end(), 0.0);
  hypothesis->quality = 100 * std::exp(sum / static_cast<double>(log_probabilities.size()));
  // Ids of a text that is written from its end come with falling words.
  const int64_t last = words.empty() ? -1 : *std::ranges::max_element(words);
  if (last < 0) return;
  constexpr double kNone = 1;  // no log-probability
  std::vector<double> of_word(last + 1, kNone);
  for (size_t i = 0; i < std::min(words.size(), log_probabilities.size()); ++i) {
    double& word = of_word[words[i]];
    word = (word == kNone ? 0 : word) + log_probabilities[i];
  }
  for (const double word : of_word)
    hypothesis->word_quality.push_back(word == kNone ? 0 : 100 * std::exp(word));
}

void AddWordQuality(std::span<const double> words, int64_t first, int64_t count,
                    std::vector<double>* of_text) {
  if (words.empty()) return;
  of_text->resize(count, 100.0);
  for (int64_t i = 0; i < std::min(std::ssize(words), count - first); ++i)
    (*of_text)[first + i] = std::min((*of_text)[first + i], words[i]);
}

void SetCertain(int64_t words, Hypothesis* hypothesis) {
  hypothesis->quality = 100;
  hypothesis->word_quality.assign(words, 100.0);
}

std::vector<int64_t> Hypothesis::DoubtfulWords() const {
  std::vector<int64_t> doubtful;
  for (int64_t i = 0; i < std::ssize(word_quality); ++i) {
    if (word_quality[i] < kDoubtfulWord) doubtful.push_back(i);
  }
  return doubtful;
}

}  // namespace attend
