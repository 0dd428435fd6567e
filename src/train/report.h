// report.html: a run's curves, sample translations and configuration in one page that opens without
// a network.
#ifndef ATTEND_TRAIN_REPORT_H_
#define ATTEND_TRAIN_REPORT_H_

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"

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

// What the page shows. `samples`: the last line of translations.jsonl, null if there is none.
Json ReportData(const RunCurves& curves, const Json& samples, const Json& options);

// The page with `data` in it.
std::string ReportPage(const Json& data);

// Reads DIRECTORY/metrics.jsonl and translations.jsonl, writes DIRECTORY/report.html. `test`:
// scores of the test set as RunResult has them, null where there are none yet.
void WriteTrainingReport(const std::filesystem::path& directory, const Json& options,
                         const Json& test);

// The page itself, with "@DATA@" where the data goes.
extern const char* const kReportTemplate;

}  // namespace attend

#endif  // ATTEND_TRAIN_REPORT_H_
