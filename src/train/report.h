// report.html: a run's curves, sample translations and configuration in one page that opens without
// a network.
#ifndef ATTEND_TRAIN_REPORT_H_
#define ATTEND_TRAIN_REPORT_H_

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"

namespace attend {

// What the page shows, gathered from the lines of metrics.jsonl and translations.jsonl. Training
// curves are thinned to means of at most `max_points` equal stretches of updates.
Json ReportData(const std::vector<Json>& metrics, const std::vector<Json>& translations,
                const Json& options, size_t max_points = 600);

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
