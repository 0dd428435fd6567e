#include "data/corpus_report.h"

#include <fmt/format.h>

namespace attend {
namespace {

// Counts by name.
template <class Report, class Use>
void ForEachCount(Report& report, const Use& use) {
  use("lines", report.lines);
  use("kept", report.kept);
  use("empty", report.empty);
  use("too_short", report.too_short);
  use("too_long", report.too_long);
  use("ratio", report.ratio);
  use("malformed", report.malformed);
}

}  // namespace

void CorpusReport::Add(const CorpusReport& next) {
  const Json more = ToJson(next);
  ForEachCount(*this,
               [&](const char* name, int64_t& count) { count += more.at(name).get<int64_t>(); });
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
  ForEachCount(report, [&](const char* name, int64_t count) { json[name] = count; });
  json["first_malformed"] = report.first_malformed;
  json["tokens"] = report.tokens;
  return json;
}

CorpusReport CorpusReportFromJson(const Json& json, const std::string& where) {
  CorpusReport report;
  ForEachCount(report, [&](const char* name, int64_t& count) {
    count = MemberOf<int64_t>(json, name, where);
  });
  report.first_malformed = MemberOf<std::string>(json, "first_malformed", where);
  report.tokens = MemberOf<std::vector<int64_t>>(json, "tokens", where);
  return report;
}

}  // namespace attend
