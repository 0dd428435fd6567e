// The files that training writes for people and their tools.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "attend/error.h"
#include "base/files.h"
#include "train/checkpoint/output_lock.h"
#include "train/logs/metrics_log.h"
#include "train/logs/report.h"
#include "train/logs/tensorboard.h"
#include "train/tasks/registry.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class LogsTest : public testing::Test {
 protected:
  LogsTest() : directory_(fs::path(testing::TempDir()) / "logs_test") {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  ~LogsTest() override { fs::remove_all(directory_); }

  fs::path directory_;
};

int CountMetrics(const fs::path& path) {
  int count = 0;
  ForEachMetric(path, [&](const Json&) { ++count; });
  return count;
}

TEST_F(LogsTest, MetricsAreCutBackToAnUpdate) {
  const fs::path path = directory_ / "metrics.jsonl";
  {
    MetricsLog log(path, 0);
    for (int update = 1; update <= 5; ++update)
      log.Append({{"update", update}, {"loss", 0.1 * update}});
    log.Append({{"update", 5}, {"validation", {{"loss", 1}}}});
  }
  WriteFileSynced(path, ReadFile(path) + "{\"update\":6,\"lo");  // what a kill leaves
  EXPECT_EQ(CountMetrics(path), 6);
  {
    MetricsLog log(path, 5);
  }
  EXPECT_EQ(CountMetrics(path), 6);
  {
    MetricsLog log(path, 3);
  }
  EXPECT_EQ(CountMetrics(path), 3);
  EXPECT_EQ(ReadFile(path),
            "{\"update\":1,\"loss\":0.1}\n{\"update\":2,\"loss\":0.2}\n{\"update\":3,\"loss\":0."
            "30000000000000004}\n");
  {
    MetricsLog log(path, 0);
  }
  EXPECT_EQ(ReadFile(path), "");
}

TEST_F(LogsTest, MetricsThatCannotBeReadAreAnError) {
  fs::create_directory(directory_ / "metrics.jsonl");
  EXPECT_THROW(CountMetrics(directory_ / "metrics.jsonl"), Error);
  EXPECT_EQ(CountMetrics(directory_ / "none"), 0);
}

TEST_F(LogsTest, TensorBoardRecordsAreCutBackToAnUpdate) {
  const fs::path path = directory_ / "events.out.tfevents.attend";
  const auto write = [&](int64_t keep, const std::vector<int64_t>& updates) {
    TensorBoardWriter writer(directory_, keep, 100.0);
    for (const int64_t update : updates)
      writer.Append(update, 100.0 + static_cast<double>(update), {{"loss", 1.0f / update}});
    return ReadFile(path);
  };
  const std::string first = write(0, {1, 200, 300});
  WriteFileSynced(path, first + std::string("\x07\0\0", 3));
  const std::string cut = write(200, {});
  EXPECT_LT(cut.size(), first.size());
  EXPECT_EQ(cut, first.substr(0, cut.size()));
  EXPECT_EQ(write(200, {300}), first);
  std::string damaged = first;
  damaged[first.size() - 8] ^= 1;
  WriteFileSynced(path, damaged);
  EXPECT_EQ(write(300, {300}), first);
}

TEST_F(LogsTest, TensorBoardHasTheOptionsOnceAndTheEndLast) {
  const fs::path path = directory_ / "events.out.tfevents.attend";
  const Json options = {{"seed", 3}, {"encoder", {{"layers", 4}}}, {"unset", ""}};
  const auto write = [&](int64_t keep, bool finish) {
    TensorBoardWriter writer(directory_, keep, 100.0, options);
    if (keep == 0) writer.Append(5, 105.0, {{"loss", 1.0f}});
    if (finish) writer.Finish(5, 106.0, {{"test/bleu", 30.0f}});
    return ReadFile(path);
  };
  const auto count = [](std::string_view bytes, std::string_view part) {
    int found = 0;
    for (size_t at = 0; (at = bytes.find(part, at)) != std::string_view::npos; ++at) ++found;
    return found;
  };
  const std::string finished = write(0, true);
  EXPECT_EQ(count(finished, "_hparams_/session_start_info"), 1);
  EXPECT_EQ(count(finished, "encoder.layers"), 1);
  EXPECT_EQ(count(finished, "unset"), 0);
  EXPECT_EQ(count(finished, "_hparams_/session_end_info"), 1);
  const std::string cut = write(5, false);
  EXPECT_EQ(count(cut, "test/bleu"), 0);
  EXPECT_EQ(cut, finished.substr(0, cut.size()));
  EXPECT_EQ(write(5, true), finished);
}

TEST_F(LogsTest, OutputCanBeLockedOnce) {
  {
    const OutputLock lock(directory_ / "new" / "run");
    try {
      const OutputLock second(directory_ / "new" / "run");
      FAIL() << "a second lock was given";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kRuntime);
      EXPECT_THAT(error.what(), HasSubstr("in use by another trainer (process " +
                                          std::to_string(getpid()) + ")"));
    }
  }
  const OutputLock again(directory_ / "new" / "run");
}

TEST_F(LogsTest, ARefusedStartTakesAwayNothingButItsOwn) {
  fs::create_directories(directory_ / "there");
  {
    const OutputLock lock(directory_ / "missing" / ".." / "there" / "");
  }
  EXPECT_TRUE(fs::exists(directory_ / "there"));
  EXPECT_FALSE(fs::exists(directory_ / "missing"));
  EXPECT_THROW(OutputLock(directory_ / "new" / std::string(300, 'x')), Error);
  EXPECT_FALSE(fs::exists(directory_ / "new"));
}

TEST_F(LogsTest, ALockLeavesNothingWhereNothingCameOfIt) {
  const fs::path run = directory_ / "new" / "run";
  {
    const OutputLock lock(run);
  }
  EXPECT_FALSE(fs::exists(directory_ / "new"));
  fs::create_directories(run);
  {
    const OutputLock lock(run);
  }
  EXPECT_TRUE(fs::is_empty(run));
  {
    OutputLock lock(run);
    EXPECT_TRUE(fs::is_empty(run));  // as a kill leaves it
    lock.LockFile();
    EXPECT_TRUE(fs::exists(run / "lock"));
  }
  EXPECT_TRUE(fs::is_empty(run));
  {
    OutputLock lock(run);
    lock.LockFile();
    WriteFileSynced(run / "config.toml", "");
  }
  EXPECT_TRUE(fs::exists(run / "lock"));
  OutputLock again(run);  // a lock that is left holds nobody up
  again.LockFile();
}

const TaskInfo& Info() { return FindTask("translation").info; }

RunCurves CurvesOf(const std::vector<Json>& metrics) {
  RunCurves curves;
  for (const Json& line : metrics) curves.Add(line);
  return curves;
}

TEST_F(LogsTest, ReportThinsCurvesAndKeepsValidation) {
  std::vector<Json> metrics;
  for (int update = 1; update <= 1000; ++update) {
    metrics.push_back({{"update", update},
                       {"epoch", 0},
                       {"loss", update},
                       {"gradient_norm", 1},
                       {"learning_rate", 2},
                       {"target_tokens", 3}});
  }
  metrics[0]["loss"] = nullptr;
  metrics[0]["skipped"] = true;
  metrics.push_back({{"update", 1000}, {"validation", {{"loss", 1.5}, {"bleu", 30}}}});
  const Json data = CurvesOf(metrics).ToJson(100);
  EXPECT_EQ(data["train"]["loss"].size(), 100u);
  EXPECT_EQ(data["train"]["loss"][1], (Json{20, 15.5}));
  EXPECT_EQ(data["train"]["loss"][0], (Json{10, 6.0}));  // the mean of 2 ... 10
  EXPECT_EQ(data["valid"]["bleu"], (Json::array({Json{1000, 30}})));
  EXPECT_EQ(data["skipped"], 1);
}

TEST_F(LogsTest, ReportSaysWhyItHasNoValidation) {
  const auto note = [](const std::vector<Json>& metrics, const ReportedRun& run) {
    return ReportData(CurvesOf(metrics), Json(), run)["note"].get<std::string>();
  };
  const Json options = {{"validate_every", 500}};
  const ReportedRun none{Info(), /*validates=*/false, options}, some{Info(), true, options};
  const Json validation = {{"update", 500}, {"validation", {{"loss", 1.5}}}};
  EXPECT_THAT(note({}, none),
              HasSubstr("no validation text (valid_source and valid_target, or valid_text)"));
  EXPECT_THAT(note({}, some), HasSubstr("the first validation is due at update 500"));
  const ReportedRun shorter{Info(), true, {{"validate_every", 500}, {"max_updates", 300}}};
  EXPECT_THAT(note({}, shorter), HasSubstr("due at update 500, and training ends after 300"));
  EXPECT_EQ(note({validation}, some), "");
  EXPECT_THAT(ReportPage(ReportData({}, Json(), none)), HasSubstr("no validation text"));
}

TEST_F(LogsTest, ReportHasTimeAndSpeedOfUpdates) {
  RunTimes times;
  EXPECT_TRUE(times.ToJson().is_null());
  const auto add = [&](int update, double seconds, double speed) {
    times.Add({{"update", update}, {"seconds", seconds}, {"target_tokens_per_s", speed}});
  };
  add(10, 2, 100);
  add(20, 1, 400);
  EXPECT_EQ(times.ToJson(), (Json{{"seconds", 3.0},
                                  {"target_tokens_per_s", 200.0},
                                  {"curve", Json::array({Json{10, 100.0}, Json{20, 400.0}})}}));
  EXPECT_EQ(times.ToJson(1)["curve"], Json::array({(Json{20, 200.0})}));
  add(20, 1, 300);  // a resumed run's
  const Json resumed = times.ToJson();
  EXPECT_EQ(resumed["seconds"], 4.0);
  EXPECT_EQ(resumed["curve"], (Json::array({Json{10, 100.0}, Json{20, 300.0}})));
}

TEST_F(LogsTest, ReportHasWhatEachRankDid) {
  RunTimes times;
  const auto add = [&](int update, const std::vector<std::vector<Json>>& ranks) {
    Json line = {{"update", update}, {"seconds", 2}, {"target_tokens_per_s", 100}};
    for (const std::vector<Json>& rank : ranks) {
      line["ranks"].push_back({{"target_tokens", rank[0]},
                               {"loss", rank[1]},
                               {"computing_seconds", rank[2]},
                               {"waiting_seconds", rank[3]},
                               {"data_seconds", rank[4]}});
    }
    times.Add(line);
  };
  add(10, {{100, 200, 1, 0.5, 0}, {300, 900, 2, 0, 0.25}});
  add(20, {{100, nullptr, 1, 0.5, 0}, {100, 100, 2, 0, 0}});
  const Json data = times.ToJson();
  EXPECT_EQ(data["ranks"], (Json::parse("[[200.0,2.0,2.0,1.0,0.0],[400.0,2.5,4.0,0.0,0.25]]")));
  EXPECT_EQ(data["rank_curves"], (Json::parse("[[[10,100.0],[20,100.0]],[[10,150.0],[20,50.0]]]")));
  add(20, {{100, 100, 4, 0, 0}, {100, 100, 2, 0, 0}});  // a resumed run's
  EXPECT_EQ(times.ToJson()["rank_curves"][0], (Json::parse("[[10,100.0],[20,25.0]]")));
  add(30, {{100, 100, 1, 0, 0}});  // went on with another number of processes
  EXPECT_EQ(times.ToJson()["ranks"].size(), 1);
  add(40, {});  // and alone
  EXPECT_FALSE(times.ToJson().contains("ranks"));
}

TEST_F(LogsTest, ReportKnowsTheDefaultsOfThePreset) {
  const Json options = {{"preset", "tiny"}, {"encoder", {{"layers", 3}}}, {"batch_tokens", 7}};
  const Json defaults = ReportData({}, Json(), {Info(), true, options})["defaults"];
  EXPECT_EQ(defaults["preset"], "base");
  EXPECT_EQ(defaults["encoder"]["layers"], 4);
  EXPECT_EQ(defaults["encoder"]["d_model"], 128);
  EXPECT_EQ(defaults["label_smoothing"], 0.1);
}

TEST_F(LogsTest, EveryCurveOfATaskHasItsColour) {
  const std::string_view page = ReportFiles()[0].content;
  const std::string_view colors = page.substr(page.find("const COLORS = ["));
  const auto of_list = std::ranges::count(colors.substr(0, colors.find(']')), '(');
  ASSERT_GT(of_list, 1);
  for (const std::string& name : TaskNames()) {
    const TaskInfo& task = FindTask(name).info;
    for (const FigureChart& chart : task.charts) {
      EXPECT_LE(std::ssize(chart.figures), of_list) << name << ": " << chart.title;
      for (const std::string& figure : chart.figures)
        EXPECT_EQ(std::ranges::count(task.validation, figure, &Figure::name), 1) << figure;
    }
  }
}

TEST_F(LogsTest, ReportNamesTheTask) {
  const TaskInfo& tagging = FindTask("tagging").info;
  const Json data = ReportData({}, Json(), {tagging, true, Json::object()});
  EXPECT_EQ(data["task"]["name"], "tagging");
  EXPECT_EQ(data["options"]["task"], "tagging");
  EXPECT_EQ(data["defaults"]["task"], "translation");
}

TEST_F(LogsTest, ReportSaysWhereARunRan) {
  const ReportedRun run{
      Info(), true, Json::object(), {{"processor", "A \"fast\" one"}, {"threads", 3}}, 12345, 678};
  WriteFileSynced(directory_ / "timing.jsonl",
                  "{\"update\":10,\"seconds\":2,\"target_tokens_per_s\":100}\n");
  WriteTrainingReport(directory_, run, Json());
  const std::string page = ReadFile(directory_ / "report.html");
  EXPECT_THAT(page, HasSubstr(R"("processor":"A \"fast\" one","threads":3)"));
  EXPECT_THAT(page, HasSubstr(R"("parameters":12345,"trained_parameters":678)"));
  EXPECT_THAT(page, HasSubstr(R"("target_tokens_per_s":100.0)"));
}

TEST_F(LogsTest, ReportCannotBeBrokenByText) {
  const Json samples = {
      {"update", 1},
      {"samples", {{{"input", "</script><b>"}, {"reference", "r"}, {"output", "\xff"}}}}};
  const std::string page = ReportPage(ReportData({}, samples, {Info(), true, Json::object()}));
  EXPECT_THAT(page, Not(HasSubstr("</script><b>")));
  EXPECT_THAT(page, HasSubstr("\\u003c/script>\\u003cb>"));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
}

}  // namespace
}  // namespace attend
