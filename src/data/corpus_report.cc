#include "data/corpus_report.h"

#include <fmt/format.h>

#include <string_view>

namespace attend {
namespace {

struct Reason {
  const char* name;
  const char* text;
  NamedLines CorpusReport::* member;
};

constexpr Reason kDropped[] = {{"empty", "empty", &CorpusReport::empty},
                               {"too_short", "too short", &CorpusReport::too_short},
                               {"too_long", "too long", &CorpusReport::too_long},
                               {"ratio", "by length ratio", &CorpusReport::ratio}};

std::string WithLines(const NamedLines& lines, const char* text) {
  const std::string counted = fmt::format("{} {}", lines.count, text);
  return lines.count == 0 ? counted : fmt::format("{} ({})", counted, lines.Text());
}

Json ToJson(const NamedLines& lines) { return {{"count", lines.count}, {"first", lines.first}}; }

NamedLines NamedLinesFromJson(const Json& json, const char* name, const std::string& where) {
  const auto lines = MemberOf<Json>(json, name, where);
  return {MemberOf<int64_t>(lines, "count", where),
          MemberOf<std::vector<std::string>>(lines, "first", where)};
}

}  // namespace

void NamedLines::Add(const NamedLines& next) {
  count += next.count;
  for (const std::string& line : next.first) {
    if (first.size() < kNamed) first.push_back(line);
  }
}

std::string NamedLines::Text() const {
  std::string text;
  std::string_view file;
  for (const std::string_view where : first) {
    const size_t line = where.rfind(':') + 1;
    if (!text.empty()) text += ", ";
    text += where.substr(0, line) == file ? where.substr(line) : where;
    file = where.substr(0, line);
  }
  const int64_t more = count - std::ssize(first);
  return more > 0 ? fmt::format("{} and {} more", text, more) : text;
}

void CorpusReport::Add(const CorpusReport& next) {
  lines += next.lines;
  kept += next.kept;
  for (const Reason& reason : kDropped) (this->*reason.member).Add(next.*reason.member);
  dividing += next.dividing;
  malformed.Add(next.malformed);
  protected_spans += next.protected_spans;
  unequal_spans += next.unequal_spans;
  if (tokens.size() < next.tokens.size()) tokens.resize(next.tokens.size());
  for (size_t column = 0; column < next.tokens.size(); ++column)
    tokens[column] += next.tokens[column];
}

std::string CorpusReport::Text() const {
  std::string text = fmt::format("{} lines, {} kept; dropped: ", lines, kept);
  for (const Reason& reason : kDropped) {
    if (reason.member == &CorpusReport::ratio && tokens.size() == 1) continue;  // of what?
    if (&reason != kDropped) text += ", ";
    text += WithLines(this->*reason.member, reason.text);
  }
  if (dividing > 0) text += fmt::format("; {} between documents", dividing);
  if (malformed.count > 0)
    text += "; " + WithLines(malformed, "with malformed UTF-8, read as U+FFFD");
  if (protected_spans + unequal_spans > 0) {
    text += fmt::format("; {} protected spans, {} more of the source that the target lacks",
                        protected_spans, unequal_spans);
  }
  return text;
}

Json ToJson(const CorpusReport& report) {
  Json json = Json::object();
  json["lines"] = report.lines;
  json["kept"] = report.kept;
  for (const Reason& reason : kDropped) json[reason.name] = ToJson(report.*reason.member);
  json["between_documents"] = report.dividing;
  json["malformed"] = ToJson(report.malformed);
  json["protected_spans"] = report.protected_spans;
  json["unequal_spans"] = report.unequal_spans;
  json["tokens"] = report.tokens;
  return json;
}

CorpusReport CorpusReportFromJson(const Json& json, const std::string& where) {
  CorpusReport report;
  report.lines = MemberOf<int64_t>(json, "lines", where);
  report.kept = MemberOf<int64_t>(json, "kept", where);
  for (const Reason& reason : kDropped)
    report.*reason.member = NamedLinesFromJson(json, reason.name, where);
  if (json.contains("protected_spans")) {  // an older checkpoint has none
    report.protected_spans = MemberOf<int64_t>(json, "protected_spans", where);
    report.unequal_spans = MemberOf<int64_t>(json, "unequal_spans", where);
  }
  if (json.contains("between_documents"))  // an older checkpoint has none
    report.dividing = MemberOf<int64_t>(json, "between_documents", where);
  report.malformed = NamedLinesFromJson(json, "malformed", where);
  report.tokens = MemberOf<std::vector<int64_t>>(json, "tokens", where);
  return report;
}

}  // namespace attend
