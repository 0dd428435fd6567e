#include "metrics/brackets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "attend/error.h"
#include "metrics/percent.h"

namespace attend {
namespace {

constexpr std::array<std::string_view, 7> kDeleted = {"TOP", "-NONE-", ",", ":", "``", "''", "."};
constexpr std::string_view kBlanks = " \t\n\v\f\r";

bool IsDeleted(std::string_view label) {
  return std::ranges::find(kDeleted, label) != kDeleted.end();
}

// Two labels that count as one.
std::string_view Merged(std::string_view label) { return label == "PRT" ? "ADVP" : label; }

std::string_view WithoutTail(std::string_view label) {
  return label.substr(0, std::min(label.find_first_of("-="), label.size()));
}

struct Span {
  int64_t begin = 0, end = 0;  // words that are left
  std::string_view label;
};

struct Bracketed {
  std::vector<std::string_view> words, tags;  // that are left
  std::vector<Span> brackets;
  int64_t length = 0;  // words but for traces
  bool balanced = true;
};

// Reads a line as evalb does: any number of trees, whose brackets may be empty.
class BracketReader {
 public:
  explicit BracketReader(std::string_view line) : line_(line) {}

  Bracketed Read() {
    for (SkipBlanks(); at_ < line_.size() && read_.balanced; SkipBlanks()) {
      const char next = line_[at_++];
      if (next == '(') {
        Open();
      } else if (next == ')') {
        Close();
      } else {
        read_.balanced = false;  // a word beside a word
      }
    }
    read_.balanced = read_.balanced && open_.empty();
    return std::move(read_);
  }

 private:
  void SkipBlanks() { at_ = std::min(line_.find_first_not_of(kBlanks, at_), line_.size()); }

  std::string_view Word() {
    const size_t begin = at_;
    at_ = std::min(line_.find_first_of(" \t\n\v\f\r()", at_), line_.size());
    return line_.substr(begin, at_ - begin);
  }

  void Open() {
    const std::string_view label = Word();
    const size_t after = at_;
    SkipBlanks();
    const std::string_view word = Word();
    if (at_ < line_.size() && line_[at_] == ')' && after < at_) {
      ++at_;
      AddWord(label, word);
      return;
    }
    if (!word.empty()) read_.balanced = false;
    at_ = after;
    open_.push_back(std::ssize(read_.brackets));
    read_.brackets.push_back({std::ssize(read_.words), 0, label});
  }

  void AddWord(std::string_view tag, std::string_view word) {
    read_.length += tag == "-NONE-" ? 0 : 1;
    if (IsDeleted(tag)) return;
    read_.words.push_back(word);
    read_.tags.push_back(tag);
  }

  void Close() {
    if (open_.empty()) {
      read_.balanced = false;
      return;
    }
    read_.brackets[open_.back()].end = std::ssize(read_.words);
    open_.pop_back();
  }

  std::string_view line_;
  size_t at_ = 0;
  std::vector<int64_t> open_;
  Bracketed read_;
};

// Those that count, with the labels that are compared.
std::vector<Span> Counted(const std::vector<Span>& brackets) {
  std::vector<Span> counted;
  for (const Span& bracket : brackets) {
    const std::string_view label = Merged(WithoutTail(bracket.label));
    if (bracket.begin < bracket.end && !IsDeleted(label))
      counted.push_back({bracket.begin, bracket.end, label});
  }
  return counted;
}

int64_t CountRight(const std::vector<Span>& found, const std::vector<Span>& expected) {
  std::map<std::tuple<int64_t, int64_t, std::string_view>, int64_t> left;
  for (const Span& span : expected) ++left[{span.begin, span.end, span.label}];
  return std::ranges::count_if(found, [&](const Span& span) {
    const auto one = left.find({span.begin, span.end, span.label});
    return one != left.end() && one->second-- > 0;
  });
}

bool Cross(const Span& a, const Span& b) {
  const auto first_crosses = [](const Span& first, const Span& second) {
    return first.begin < second.begin && second.begin < first.end && first.end < second.end;
  };
  return first_crosses(a, b) || first_crosses(b, a);
}

int64_t CountCrossing(const std::vector<Span>& found, const std::vector<Span>& expected) {
  return std::ranges::count_if(found, [&](const Span& span) {
    return std::ranges::any_of(expected, [&](const Span& other) { return Cross(span, other); });
  });
}

BracketCounts CountSentence(const Bracketed& found, const Bracketed& expected) {
  BracketCounts counts{.sentences = 1};
  if (found.words.empty()) {
    counts.skipped = 1;
    return counts;
  }
  if (!found.balanced || !expected.balanced || found.words != expected.words) {
    counts.errors = 1;
    return counts;
  }
  const std::vector<Span> own = Counted(found.brackets), wanted = Counted(expected.brackets);
  counts.found = std::ssize(own);
  counts.expected = std::ssize(wanted);
  counts.right = CountRight(own, wanted);
  counts.complete = counts.found == counts.right && counts.expected == counts.right ? 1 : 0;
  counts.crossing = CountCrossing(own, wanted);
  counts.no_crossing = counts.crossing == 0 ? 1 : 0;
  counts.few_crossing = counts.crossing <= 2 ? 1 : 0;
  counts.words = std::ssize(found.words);
  for (size_t word = 0; word < found.tags.size(); ++word)
    counts.right_tags += Merged(found.tags[word]) == Merged(expected.tags[word]) ? 1 : 0;
  return counts;
}

}  // namespace

double BracketCounts::precision() const { return Percent(right, found); }
double BracketCounts::recall() const { return Percent(right, expected); }
// As evalb computes it, so that no digit differs.
double BracketCounts::f1() const {
  return right > 0 ? 2 * precision() * recall() / (precision() + recall()) : 0;
}
double BracketCounts::exact_match() const { return Percent(complete, valid()); }
double BracketCounts::no_crossing_share() const { return Percent(no_crossing, valid()); }
double BracketCounts::few_crossing_share() const { return Percent(few_crossing, valid()); }
double BracketCounts::tagging_accuracy() const { return Percent(right_tags, words); }
double BracketCounts::average_crossing() const {
  return valid() > 0 ? static_cast<double>(crossing) / static_cast<double>(valid()) : 0;
}

BracketCounts& BracketCounts::operator+=(const BracketCounts& other) {
  sentences += other.sentences;
  errors += other.errors;
  skipped += other.skipped;
  expected += other.expected;
  found += other.found;
  right += other.right;
  complete += other.complete;
  crossing += other.crossing;
  no_crossing += other.no_crossing;
  few_crossing += other.few_crossing;
  words += other.words;
  right_tags += other.right_tags;
  return *this;
}

BracketScores ScoreBrackets(const std::vector<std::string>& found,
                            const std::vector<std::string>& expected, int64_t cutoff) {
  if (found.size() != expected.size()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} trees, expected {}", found.size(), expected.size()));
  }
  BracketScores scores;
  for (size_t i = 0; i < found.size(); ++i) {
    const Bracketed wanted = BracketReader(expected[i]).Read();
    const BracketCounts counts = CountSentence(BracketReader(found[i]).Read(), wanted);
    scores.all += counts;
    if (wanted.length <= cutoff) scores.within += counts;
  }
  return scores;
}

}  // namespace attend
