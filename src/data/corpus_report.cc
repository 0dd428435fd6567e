#include "data/corpus_report.h"

#include <fmt/format.h>

namespace attend {
namespace {

struct Count {
  const char* name;
  int64_t CorpusReport::* member;
};

constexpr Count kCounts[] = {
    {"lines", &CorpusReport::lines},        {"kept", &CorpusReport::kept},
    {"empty", &CorpusReport::empty},        {"too_short", &CorpusReport::too_short},
    {"too_long", &CorpusReport::too_long},  {"ratio", &CorpusReport::ratio},
    {"malformed", &CorpusReport::malformed}};

}  // namespace

void CorpusReport::Add(const CorpusReport& next) {
  for (const Count& count : kCounts) this->*count.member += next.*count.member;
  if (first_malformed.empty()) first_malformed = next.first_malformed;
  if (tokens.size() < next.tokens.size()) tokens.resize(next.tokens.size());
  for (size_t column = 0; column < next.tokens.size(); ++column)
    tokens[column] += next.tokens[column];
}

std::string CorpusReport::Text() const {
  std::string text = fmt::format(
      "{} lines, {} kept; dropped: {} empty, {} too short, {} too long, {} by length ratio", lines,
      kept, empty, too_short, too_long, ratio);
  if (malformed > 0) {
    text += fmt::format("; {} malformed UTF-8 sequences read as U+FFFD, the first in {}", malformed,
                        first_malformed);
  }
  return text;
}

Json ToJson(const CorpusReport& report) {
  Json json = Json::object();
  for (const Count& count : kCounts) json[count.name] = report.*count.member;
  json["first_malformed"] = report.first_malformed;
  json["tokens"] = report.tokens;
  return json;
}

CorpusReport CorpusReportFromJson(const Json& json, const std::string& where) {
  CorpusReport report;
  for (const Count& count : kCounts)
    report.*count.member = MemberOf<int64_t>(json, count.name, where);
  report.first_malformed = MemberOf<std::string>(json, "first_malformed", where);
  report.tokens = MemberOf<std::vector<int64_t>>(json, "tokens", where);
  return report;
}

}  // namespace attend
