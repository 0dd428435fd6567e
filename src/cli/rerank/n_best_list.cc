#include "cli/rerank/n_best_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>

#include "attend/error.h"
#include "base/excerpt.h"
#include "text/lines.h"
#include "text/utf8.h"

namespace attend {
namespace {

constexpr std::string_view kBar = " ||| ";
constexpr double kNoOutput = -1e9;  // for a score of -infinity, which no weight could scale

template <class Number>
std::optional<Number> WholeNumber(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Words such as "0-0 1-2".
bool IsAlignment(std::string_view text) {
  return text.find_first_not_of("0123456789- ") == text.npos && text.find('-') != text.npos;
}

// What stands after the last bar, which is taken off; nothing: there is no bar.
std::optional<std::string_view> TakeLast(std::string_view* line) {
  const size_t bar = line->rfind(kBar);
  if (bar == line->npos) return std::nullopt;
  const std::string_view last = line->substr(bar + kBar.size());
  line->remove_suffix(line->size() - bar);
  return last;
}

}  // namespace

NBestLine ParseNBestLine(std::string_view line, const std::string& where) {
  const auto refuse = [&](const std::string& expected) {
    throw Error(ErrorKind::kInput,
                fmt::format("{}: '{}', expected {}, as `attend translate --n-best` writes it",
                            where, Excerpt(line), expected));
  };
  std::string_view rest = line;
  const bool ends = rest.ends_with(" |||");  // an alignment without links, or no word in doubt
  if (ends) rest.remove_suffix(4);
  const size_t bar = rest.find(kBar);
  const auto number = WholeNumber<int64_t>(rest.substr(0, bar));
  if (bar == rest.npos || !number || *number < 0) refuse("number ||| text ||| score");
  std::string_view text = rest.substr(bar + kBar.size() - 1);  // with the space before it
  std::optional<std::string_view> last = TakeLast(&text);
  const bool linked = last && !WholeNumber<double>(*last);
  if (linked && !IsAlignment(*last)) refuse("number ||| text ||| score; leave out --quality");
  if (linked) last = TakeLast(&text);
  const std::optional<double> score = last ? WholeNumber<double>(*last) : std::nullopt;
  if (!score || std::isnan(*score)) refuse("a number as score");
  std::string_view before = text;
  const std::optional<std::string_view> other = ends ? TakeLast(&before) : std::nullopt;
  if (other && WholeNumber<double>(*other)) refuse("one score; leave out --quality");
  if (!text.empty()) text.remove_prefix(1);
  return {*number, {std::string(text), std::isfinite(*score) ? *score : kNoOutput}};
}

std::vector<NBestList> ReadNBestLists(const std::string& path) {
  LineReader reader(path);
  std::vector<NBestList> lists;
  for (std::string line; reader.Next(&line);) {
    const std::string where = fmt::format("{}:{}", reader.name(), reader.lines());
    NBestLine read = ParseNBestLine(RepairUtf8(line), where);
    const int64_t last = std::ssize(lists) - 1;
    if (read.number != last && read.number != last + 1) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{}: number {} comes after {}, expected {} or {}; lists stand in the "
                              "order of the source, from 0",
                              where, read.number, last, std::max<int64_t>(last, 0), last + 1));
    }
    if (read.number > last) lists.emplace_back();
    lists.back().push_back(std::move(read.ranked));
  }
  return lists;
}

}  // namespace attend
