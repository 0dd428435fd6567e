#include "metrics/error_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "metrics/characters.h"
#include "metrics/signature.h"
#include "text/utf8.h"

namespace attend {
namespace {

using Units = std::vector<std::u32string>;

// White space in a row becomes a blank; one that is alone stays what it is.
std::u32string WithoutMultipleSpaces(std::u32string_view text) {
  std::u32string result;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && IsPythonSpace(text[end])) ++end;
    if (end >= i + 2) {
      result += U' ';
      i = end;
    } else {
      result += text[i++];
    }
  }
  return result;
}

Units WordsOf(std::u32string_view text) {
  const std::u32string single = WithoutMultipleSpaces(text);
  const std::u32string_view line = StripLeft(StripRight(single));
  Units words;
  for (size_t begin = 0; begin < line.size();) {
    const size_t end = std::min(line.find(U' ', begin), line.size());
    if (end > begin) words.emplace_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

Units CharactersOf(std::u32string_view text) {
  Units characters;
  for (const char32_t character : StripLeft(StripRight(text)))
    characters.emplace_back(1, character);
  return characters;
}

// Row by row of the table of all beginnings of both.
int64_t Distance(const Units& from, const Units& to) {
  std::vector<int64_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < from.size(); ++i) {
    int64_t diagonal = std::exchange(row[0], static_cast<int64_t>(i) + 1);
    for (size_t j = 0; j < to.size(); ++j) {
      const int64_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

MetricStatistics ErrorRate::Statistics(std::string_view hypothesis,
                                       const std::vector<std::string_view>& references) const {
  const auto units = [&](std::string_view text) {
    std::u32string line = CodePoints(text);
    if (lowercase_) line = LowerCase(std::move(line));
    return unit_ == ErrorUnit::kWords ? WordsOf(line) : CharactersOf(line);
  };
  const Units own = units(hypothesis);
  MetricStatistics nearest;
  for (const std::string_view reference : references) {
    const Units right = units(reference);
    const MetricStatistics found = {Distance(own, right), std::ssize(right)};
    if (nearest.empty() || Score(found) < Score(nearest)) nearest = found;
  }
  return nearest;
}

double ErrorRate::Score(const MetricStatistics& sums) const {
  return 100 * static_cast<double>(sums[0]) / static_cast<double>(std::max<int64_t>(sums[1], 1));
}

std::string ErrorRate::Details(const MetricStatistics& sums) const {
  return fmt::format("({} errors, {} {})", sums[0], sums[1],
                     unit_ == ErrorUnit::kWords ? "words" : "characters");
}

std::string ErrorRate::Settings() const {
  return fmt::format("case:{}", lowercase_ ? "lc" : "mixed");
}

std::string ErrorRate::Signature(size_t references) const {
  return SignatureOf(references, Settings());
}

}  // namespace attend
