#include "metrics/classes.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "metrics/percent.h"

namespace attend {

int64_t ClassScores::items() const {
  int64_t sum = 0;
  for (const std::vector<int64_t>& row : confusion) {
    for (const int64_t count : row) sum += count;
  }
  return sum;
}

double ClassScores::accuracy() const {
  int64_t right = 0;
  for (size_t i = 0; i < confusion.size(); ++i) right += confusion[i][i];
  return Percent(right, items());
}

double ClassScores::precision(size_t of) const {
  int64_t found = 0;
  for (const std::vector<int64_t>& row : confusion) found += row[of];
  return Percent(confusion[of][of], found);
}

double ClassScores::recall(size_t of) const {
  int64_t expected = 0;
  for (const int64_t count : confusion[of]) expected += count;
  return Percent(confusion[of][of], expected);
}

double ClassScores::f1(size_t of) const {
  int64_t found = 0, expected = 0;
  for (const std::vector<int64_t>& row : confusion) found += row[of];
  for (const int64_t count : confusion[of]) expected += count;
  return Percent(2 * confusion[of][of], found + expected);
}

double ClassScores::macro_f1() const {
  double sum = 0;
  for (size_t i = 0; i < classes.size(); ++i) sum += f1(i);
  return sum / static_cast<double>(classes.size());
}

ClassScores ScoreClasses(const std::vector<std::string>& found,
                         const std::vector<std::string>& expected) {
  if (found.size() != expected.size() || found.empty()) {
    throw Error(ErrorKind::kUsage, fmt::format("{} items have a class, expected {}{}", found.size(),
                                               expected.size(), found.empty() ? ", not none" : ""));
  }
  std::map<std::string, size_t> places;
  for (const std::string& name : found) places[name];
  for (const std::string& name : expected) places[name];
  ClassScores scores;
  for (auto& [name, place] : places) {
    place = scores.classes.size();
    scores.classes.push_back(name);
  }
  scores.confusion.assign(places.size(), std::vector<int64_t>(places.size()));
  for (size_t i = 0; i < found.size(); ++i)
    ++scores.confusion[places[expected[i]]][places[found[i]]];
  return scores;
}

}  // namespace attend
