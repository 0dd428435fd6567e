#include "train/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/files.h"
#include "train/metrics_log.h"

namespace attend {
namespace {

constexpr const char* kCurves[] = {"loss", "gradient_norm", "learning_rate"};

// Adds the mean of `name` over lines[begin, end) as a point at the last line's update; nothing
// where all were skipped.
void AddMean(const std::vector<Json>& lines, size_t begin, size_t end, const char* name,
             Json* curve) {
  double sum = 0;
  int64_t count = 0;
  for (size_t i = begin; i < end; ++i) {
    const Json& value = lines[i][name];
    if (!value.is_number()) continue;
    sum += value.get<double>();
    ++count;
  }
  if (count > 0) curve->push_back({lines[end - 1]["update"], sum / static_cast<double>(count)});
}

// Why there are no curves of validation, or "".
std::string NoteOf(const Json& validations, const Json& options) {
  if (!validations.empty()) return "";
  if (options.value("valid_source", Json()).empty()) {
    return "There are no curves of validation and no sample translations: the run has no "
           "validation text (valid_source and valid_target).";
  }
  return fmt::format(
      "There are no curves of validation yet: the first validation is due at update {}.",
      options.value("validate_every", Json()).dump());
}

}  // namespace

Json ReportData(const std::vector<Json>& metrics, const std::vector<Json>& translations,
                const Json& options, size_t max_points) {
  std::vector<Json> updates;
  Json data = {{"train", Json::object()},
               {"valid", Json::object()},
               {"samples", Json::object()},
               {"options", options}};
  int64_t skipped = 0;
  for (const Json& line : metrics) {
    if (!line.contains("validation")) {
      skipped += line.contains("skipped") ? 1 : 0;
      updates.push_back(line);
      continue;
    }
    for (const auto& [name, value] : line["validation"].items()) {
      if (value.is_number()) data["valid"][name].push_back({line["update"], value});
    }
  }
  const size_t stretch = std::max<size_t>(1, (updates.size() + max_points - 1) / max_points);
  for (const char* name : kCurves) {
    Json curve = Json::array();
    for (size_t begin = 0; begin < updates.size(); begin += stretch) {
      AddMean(updates, begin, std::min(updates.size(), begin + stretch), name, &curve);
    }
    data["train"][name] = std::move(curve);
  }
  data["note"] = NoteOf(data["valid"], options);
  data["skipped"] = skipped;
  data["last"] = updates.empty() ? Json() : updates.back();
  if (!translations.empty()) data["samples"] = translations.back();
  return data;
}

std::string ReportPage(const Json& data) {
  // Inside <script>, "</" would end the element; in JSON "<" may be written as an escape.
  std::string json;
  for (const char letter : Dump(data)) {
    if (letter == '<') {
      json += "\\u003c";
    } else {
      json += letter;
    }
  }
  std::string page = kReportTemplate;
  constexpr std::string_view kMark = "@DATA@";
  page.replace(page.find(kMark), kMark.size(), json);
  return page;
}

void WriteTrainingReport(const std::filesystem::path& directory, const Json& options,
                         const Json& test) {
  Json data = ReportData(ReadMetrics(directory / "metrics.jsonl"),
                         ReadMetrics(directory / "translations.jsonl"), options);
  data["test"] = test;
  WriteFileAtomically(directory / "report.html", ReportPage(data));
}

}  // namespace attend
