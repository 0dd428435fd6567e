#include "train/logs/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/files.h"
#include "train/logs/metrics_log.h"
#include "train/train_options.h"

namespace attend {
namespace {

// Why there are no curves of validation, or "".
std::string NoteOf(const Json& validations, const ReportedRun& run) {
  if (!validations.empty()) return "";
  if (!run.validates) {
    return fmt::format(
        "There are no curves of validation and no samples: the run has no "
        "validation text ({}).",
        run.task.validation_options);
  }
  if (const int64_t every = run.options.value("validate_every", int64_t{0}),
      last = run.options.value("max_updates", every);
      every > last) {
    return fmt::format(
        "There are no curves of validation: the first one would be due at update {}, and training "
        "ends after {}.",
        every, last);
  }
  return fmt::format(
      "There are no curves of validation yet: the first validation is due at update {}.",
      run.options.value("validate_every", Json()).dump());
}

// What each option is where nobody sets it; of encoder and decoder, what the run's preset gives.
Json DefaultsFor(const ReportedRun& run) {
  TrainOptions defaults(run.task.name, run.options.value("preset", ""));
  Json json = FieldsToJson(Fields(defaults));
  json["preset"] = run.task.preset;
  json["task"] = ModelConfig().task;
  return json;
}

Json ToJson(const std::vector<Figure>& figures) {
  Json list = Json::array();
  for (const Figure& each : figures) {
    list.push_back(
        {{"name", each.name}, {"label", each.label}, {"high_is_better", each.high_is_better}});
  }
  return list;
}

Json ToJson(const TaskInfo& task) {
  Json charts = Json::array();
  for (const FigureChart& chart : task.charts) {
    charts.push_back({{"title", chart.title},
                      {"axis", chart.axis},
                      {"figures", chart.figures},
                      {"most", chart.most ? Json(*chart.most) : Json()}});
  }
  return {{"name", task.name},
          {"validation", ToJson(task.validation)},
          {"charts", std::move(charts)},
          {"test", ToJson(task.test)},
          {"target", task.target},
          {"samples", task.samples},
          {"sample_input", task.sample_input}};
}

}  // namespace

void RunCurves::Add(const Json& line) {
  if (line.contains("validation")) {
    for (const auto& [name, value] : line["validation"].items()) {
      if (value.is_number()) validations_[name].push_back({line["update"], value});
    }
    return;
  }
  Update& update = updates_.emplace_back();
  update.number = line["update"];
  for (size_t name = 0; name < kNames.size(); ++name) {
    const Json value = line.value(kNames[name], Json());
    update.values[name] = value.is_number() ? value.get<double>() : std::nan("");
  }
  skipped_ += line.contains("skipped") ? 1 : 0;
  last_ = line;
}

// A point is the mean of a stretch at its last update; none where all were skipped.
Json RunCurves::Thinned(size_t name, size_t max_points) const {
  Json curve = Json::array();
  const size_t stretch = std::max<size_t>(1, (updates_.size() + max_points - 1) / max_points);
  for (size_t begin = 0; begin < updates_.size(); begin += stretch) {
    const size_t end = std::min(updates_.size(), begin + stretch);
    double sum = 0;
    int64_t count = 0;
    for (size_t i = begin; i < end; ++i) {
      const double value = updates_[i].values[name];
      if (std::isnan(value)) continue;
      sum += value;
      ++count;
    }
    if (count > 0) curve.push_back({updates_[end - 1].number, sum / static_cast<double>(count)});
  }
  return curve;
}

Json RunCurves::ToJson(size_t max_points) const {
  Json train = Json::object();
  for (size_t name = 0; name < kNames.size(); ++name)
    train[kNames[name]] = Thinned(name, max_points);
  return {{"train", train}, {"valid", validations_}, {"skipped", skipped_}, {"last", last_}};
}

// Updates that a resumed run repeats replace the earlier ones; another number of ranks begins anew.
void RankTimes::Add(const Json& line) {
  Window window{line["update"], {}};
  for (const Json& rank : line.value("ranks", Json::array())) {
    Sums& sums = window.ranks.emplace_back();
    for (size_t i = 0; i < kNames.size(); ++i) {
      const Json value = rank.value(kNames[i], Json());
      sums[i] = value.is_number() ? value.get<double>() : std::nan("");
    }
  }
  while (!windows_.empty() && windows_.back().update >= window.update) windows_.pop_back();
  if (window.ranks.empty() ||
      (!windows_.empty() && windows_.back().ranks.size() != window.ranks.size()))
    windows_.clear();
  if (!window.ranks.empty()) windows_.push_back(std::move(window));
}

Json RankTimes::Table() const {
  Json table = Json::array();
  const size_t ranks = windows_.empty() ? 0 : windows_[0].ranks.size();
  for (size_t rank = 0; rank < ranks; ++rank) {
    Sums sums = {};
    double targets = 0;  // whose loss is a number
    for (const Window& window : windows_) {
      const Sums& own = window.ranks[rank];
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += std::isnan(own[i]) ? 0 : own[i];
      if (!std::isnan(own[1])) targets += own[0];
    }
    sums[1] = targets > 0 ? sums[1] / targets : 0;
    table.push_back(sums);
  }
  return table;
}

Json RankTimes::Curves(size_t max_points) const {
  Json curves = Json::array();
  const size_t ranks = windows_.empty() ? 0 : windows_[0].ranks.size();
  const size_t stretch = std::max<size_t>(1, (windows_.size() + max_points - 1) / max_points);
  for (size_t rank = 0; rank < ranks; ++rank) {
    Json& curve = curves.emplace_back(Json::array());
    for (size_t begin = 0; begin < windows_.size(); begin += stretch) {
      const size_t end = std::min(windows_.size(), begin + stretch);
      double targets = 0, seconds = 0;
      for (size_t i = begin; i < end; ++i) {
        targets += windows_[i].ranks[rank][0];
        seconds += windows_[i].ranks[rank][2];
      }
      if (seconds > 0) curve.push_back({windows_[end - 1].update, targets / seconds});
    }
  }
  return curves;
}

void RunTimes::Add(const Json& line) {
  const Window window{line["update"], line["seconds"],
                      line["target_tokens_per_s"].get<double>() * line["seconds"].get<double>()};
  while (!windows_.empty() && windows_.back().update >= window.update) windows_.pop_back();
  windows_.push_back(window);
  seconds_ += window.seconds;
  target_tokens_ += window.target_tokens;
  ranks_.Add(line);
}

Json RunTimes::ToJson(size_t max_points) const {
  if (seconds_ <= 0) return {};
  Json curve = Json::array();
  const size_t stretch = std::max<size_t>(1, (windows_.size() + max_points - 1) / max_points);
  for (size_t begin = 0; begin < windows_.size(); begin += stretch) {
    const size_t end = std::min(windows_.size(), begin + stretch);
    double seconds = 0, target_tokens = 0;
    for (size_t i = begin; i < end; ++i) {
      seconds += windows_[i].seconds;
      target_tokens += windows_[i].target_tokens;
    }
    if (seconds > 0) curve.push_back({windows_[end - 1].update, target_tokens / seconds});
  }
  Json json = {{"seconds", seconds_},
               {"target_tokens_per_s", target_tokens_ / seconds_},
               {"curve", std::move(curve)}};
  if (Json table = ranks_.Table(); !table.empty()) {
    json["ranks"] = std::move(table);
    json["rank_curves"] = ranks_.Curves(max_points);
  }
  return json;
}

Json ReportData(const RunCurves& curves, const Json& samples, const ReportedRun& run) {
  Json data = curves.ToJson();
  data["note"] = NoteOf(data["valid"], run);
  data["task"] = ToJson(run.task);
  data["options"] = run.options;
  data["options"]["task"] = run.task.name;
  data["defaults"] = DefaultsFor(run);
  data["samples"] = samples.is_null() ? Json::object() : samples;
  data["machine"] = run.environment;
  data["parameters"] = run.parameters;
  data["trained_parameters"] = run.trained_parameters;
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
  std::string page(ReportFiles()[0].content);
  constexpr std::string_view kMark = "@DATA@";
  page.replace(page.find(kMark), kMark.size(), json);
  return page;
}

void WriteTrainingReport(const std::filesystem::path& directory, const ReportedRun& run,
                         const Json& test) {
  RunCurves curves;
  ForEachMetric(directory / "metrics.jsonl", [&](const Json& line) { curves.Add(line); });
  RunTimes times;
  ForEachMetric(directory / "timing.jsonl", [&](const Json& line) { times.Add(line); });
  Json samples;
  ForEachMetric(directory / "samples.jsonl", [&](const Json& line) { samples = line; });
  Json data = ReportData(curves, samples, run);
  data["speed"] = times.ToJson();
  data["test"] = test;
  WriteFileAtomically(directory / "report.html", ReportPage(data));
}

}  // namespace attend
