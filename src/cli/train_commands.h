// The commands of the program attend-train.
#ifndef ATTEND_CLI_TRAIN_COMMANDS_H_
#define ATTEND_CLI_TRAIN_COMMANDS_H_

#include <string>
#include <vector>

namespace attend {

struct CommonOptions;
struct TrainOptions;

// What `attend train --config FILE` would train; paths are complete.
TrainOptions ReadRecipe(const std::string& file, const CommonOptions& common);

int RunBenchTrain(const std::vector<std::string>& arguments);
int RunBenchLayers(const std::vector<std::string>& arguments);
int RunTrain(const std::vector<std::string>& arguments);
int RunTranslateByTorch(const std::vector<std::string>& arguments);
int RunScoreByTorch(const std::vector<std::string>& arguments);
int RunVerifyByTorch(const std::vector<std::string>& arguments);
int RunExportCheckpoints(const std::vector<std::string>& arguments);

}  // namespace attend

#endif  // ATTEND_CLI_TRAIN_COMMANDS_H_
