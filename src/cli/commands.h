// One function for each command: takes the arguments after the command's name, returns the exit
// status. What fails is thrown as Error.
#ifndef ATTEND_CLI_COMMANDS_H_
#define ATTEND_CLI_COMMANDS_H_

#include <string>
#include <vector>

namespace attend {

int RunAlign(const std::vector<std::string>& arguments);
int RunAnnotate(const std::vector<std::string>& arguments);
int RunAttention(const std::vector<std::string>& arguments);
int RunBackTranslate(const std::vector<std::string>& arguments);
int RunBench(const std::vector<std::string>& arguments);
int RunClassify(const std::vector<std::string>& arguments);
int RunClean(const std::vector<std::string>& arguments);
int RunCompare(const std::vector<std::string>& arguments);
int RunDistill(const std::vector<std::string>& arguments);
int RunEmbed(const std::vector<std::string>& arguments);
int RunEvaluate(const std::vector<std::string>& arguments);
int RunExport(const std::vector<std::string>& arguments);
int RunTrainLauncher(const std::vector<std::string>& arguments);
int RunExtend(const std::vector<std::string>& arguments);
int RunFill(const std::vector<std::string>& arguments);
int RunGenerate(const std::vector<std::string>& arguments);
int RunHealth(const std::vector<std::string>& arguments);
int RunImport(const std::vector<std::string>& arguments);
int RunInspect(const std::vector<std::string>& arguments);
int RunMatch(const std::vector<std::string>& arguments);
int RunPaper(const std::vector<std::string>& arguments);
int RunParse(const std::vector<std::string>& arguments);
int RunQuantize(const std::vector<std::string>& arguments);
int RunRerank(const std::vector<std::string>& arguments);
int RunScore(const std::vector<std::string>& arguments);
int RunServe(const std::vector<std::string>& arguments);
int RunShortlist(const std::vector<std::string>& arguments);
int RunTag(const std::vector<std::string>& arguments);
int RunTranscribe(const std::vector<std::string>& arguments);
int RunTranslate(const std::vector<std::string>& arguments);
int RunTranslateFile(const std::vector<std::string>& arguments);
int RunVerify(const std::vector<std::string>& arguments);
int RunVocab(const std::vector<std::string>& arguments);

}  // namespace attend

#endif  // ATTEND_CLI_COMMANDS_H_
