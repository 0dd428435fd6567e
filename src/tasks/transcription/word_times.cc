#include "tasks/transcription/word_times.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "text/lines.h"

namespace attend {
void StandardiseColumns(int64_t rows, std::span<float> weights_TS) {
  const int64_t columns = std::ssize(weights_TS) / rows;
  for (int64_t s = 0; s < columns; ++s) {
    double mean = 0, variance = 0;
    for (int64_t t = 0; t < rows; ++t) mean += weights_TS[t * columns + s];
    mean /= static_cast<double>(rows);
    for (int64_t t = 0; t < rows; ++t)
      variance += std::pow(weights_TS[t * columns + s] - mean, 2) / static_cast<double>(rows);
    const double factor = variance > 0 ? 1 / std::sqrt(variance) : 0;
    for (int64_t t = 0; t < rows; ++t) {
      float& weight = weights_TS[t * columns + s];
      weight = static_cast<float>((weight - mean) * factor);
    }
  }
}

std::vector<int64_t> WarpRows(int64_t rows, std::span<const float> weights_TS, int64_t begin,
                              bool whole) {
  enum Step : uint8_t { kBoth, kColumn, kRow };
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  const int64_t columns = std::ssize(weights_TS) / rows;
  const bool enough = columns - begin >= rows;  // a column for each row
  // Sums of the best paths to a row's places.
  std::vector<double> before(columns, kNever), best(columns, kNever);
  std::vector<Step> steps(rows * columns, kColumn);  // by which the best path reaches each place
  for (int64_t t = 0; t < rows; ++t) {
    for (int64_t s = begin; s < columns; ++s) {
      Step& step = steps[t * columns + s];
      double from = t == 0 && s == begin ? 0 : kNever;
      if (t > 0 && !enough) {
        from = before[s];
        step = kRow;
      }
      if (s > begin && best[s - 1] >= from) {
        from = best[s - 1];
        step = kColumn;
      }
      if (s > begin && t > 0 && before[s - 1] >= from) {
        from = before[s - 1];
        step = kBoth;
      }
      best[s] = from + weights_TS[t * columns + s];
    }
    std::swap(before, best);
    std::ranges::fill(best, kNever);
  }
  const int64_t last = whole ? columns - 1 : std::ranges::max_element(before) - before.begin();
  std::vector<int64_t> first(rows + 1, last + 1);
  for (int64_t t = rows - 1, s = last;;) {
    first[t] = s;
    if (t == 0 && s == begin) return first;
    const Step step = steps[t * columns + s];
    if (step != kColumn) --t;
    if (step != kRow) --s;
  }
}

std::vector<TimedWord> TimeWords(const std::string& text, std::span<const int64_t> word_of_token,
                                 std::span<const int64_t> first_column, double column_seconds,
                                 double seconds) {
  std::vector<TimedWord> words;
  for (std::string& word : WordsOfLine(text)) words.push_back({std::move(word), -1, -1});
  const auto time_of = [&](size_t token) {
    return std::min(static_cast<double>(first_column[token]) * column_seconds, seconds);
  };
  for (size_t i = 0; i < word_of_token.size(); ++i) {
    const int64_t word = word_of_token[i];
    if (word < 0 || word >= std::ssize(words)) continue;
    if (words[word].begin < 0) words[word].begin = time_of(i);
    words[word].end = time_of(i + 1);
  }
  // A word that shares its only token with the one before it is said where that ends.
  double end = 0;
  for (TimedWord& word : words) {
    if (word.begin < 0) word.begin = word.end = end;
    end = word.end;
  }
  return words;
}

}  // namespace attend
