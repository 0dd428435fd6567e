// One function for each benchmark of `attend bench`: takes the arguments after the benchmark's
// name, returns the exit status.
#ifndef ATTEND_CLI_BENCH_BENCHMARKS_H_
#define ATTEND_CLI_BENCH_BENCHMARKS_H_

#include <string>
#include <vector>

namespace attend {

int RunBenchTranslate(const std::vector<std::string>& arguments);
int RunBenchGenerate(const std::vector<std::string>& arguments);
int RunBenchEncode(const std::vector<std::string>& arguments);
int RunBenchTranscribe(const std::vector<std::string>& arguments);
// These hand the arguments on to the program that has LibTorch.
int RunBenchTrainLauncher(const std::vector<std::string>& arguments);
int RunBenchLayersLauncher(const std::vector<std::string>& arguments);

}  // namespace attend

#endif  // ATTEND_CLI_BENCH_BENCHMARKS_H_
