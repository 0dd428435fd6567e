// report.html: a run's curves, speed, machine, sample translations and configuration in one page
// that opens without a network.
#ifndef ATTEND_TRAIN_LOGS_REPORT_H_
#define ATTEND_TRAIN_LOGS_REPORT_H_

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "train/task_info.h"
#include "web/web_files.h"

namespace attend {

// What report.html shows of the lines of metrics.jsonl: of each update a few numbers.
class RunCurves {
 public:
  void Add(const Json& line);
  // Training curves are thinned to means of at most `max_points` equal stretches of updates.
  Json ToJson(size_t max_points = 600) const;

 private:
  static constexpr std::array kNames{"loss", "gradient_norm", "learning_rate"};
  struct Update {
    int64_t number;
    std::array<double, kNames.size()> values;  // NaN where the update was skipped
  };
  Json Thinned(size_t name, size_t max_points) const;

  std::vector<Update> updates_;
  Json validations_ = Json::object();  // points by name
  Json last_;                          // the last update's line
  int64_t skipped_ = 0;
};

// What each process did, of the lines of timing.jsonl that say so.
class RankTimes {
 public:
  void Add(const Json& line);
  // Of each rank [target tokens, mean loss, seconds that it computed, waited for others and waited
  // for data], and of each a curve of the target tokens for a second of its computing, of at most
  // `max_points` equal stretches. Empty where there was one process.
  Json Table() const;
  Json Curves(size_t max_points = 300) const;

 private:
  static constexpr std::array kNames{"target_tokens", "loss", "computing_seconds",
                                     "waiting_seconds", "data_seconds"};
  using Sums = std::array<double, kNames.size()>;
  struct Window {
    int64_t update;  // the last one
    std::vector<Sums> ranks;
  };
  std::vector<Window> windows_;
};

// What report.html shows of the lines of timing.jsonl.
class RunTimes {
 public:
  // Updates that a resumed run repeats replace the earlier ones in the curve; both took time.
  void Add(const Json& line);
  // {"seconds", "target_tokens_per_s", "curve"}: the time in updates, their mean speed, and the
  // speed of at most `max_points` equal stretches; of several processes "ranks" and "rank_curves",
  // too. null where there was no line.
  Json ToJson(size_t max_points = 300) const;

 private:
  struct Window {
    int64_t update;  // the last one
    double seconds, target_tokens;
  };
  std::vector<Window> windows_;
  double seconds_ = 0, target_tokens_ = 0;
  RankTimes ranks_;
};

// What a report says of a run beside its logs.
struct ReportedRun {
  const TaskInfo& task;
  bool validates = false;  // there is something to validate on
  Json options;            // RecordedFields
  Json environment;        // DescribeEnvironment
  int64_t parameters = 0, trained_parameters = 0;
};

// What the page shows. `samples`: the last line of samples.jsonl, null if there is none.
Json ReportData(const RunCurves& curves, const Json& samples, const ReportedRun& run);

// The page with `data` in it.
std::string ReportPage(const Json& data);

// Reads metrics.jsonl, timing.jsonl and samples.jsonl of DIRECTORY, writes
// DIRECTORY/report.html. `test`: scores of the test set as RunResult has them, null where there are
// none yet.
void WriteTrainingReport(const std::filesystem::path& directory, const ReportedRun& run,
                         const Json& test);

// report.html alone: the page, with "@DATA@" where the data goes.
std::span<const WebFile> ReportFiles();

}  // namespace attend

#endif  // ATTEND_TRAIN_LOGS_REPORT_H_
