#include "train/tasks/text_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "text/utf8.h"
#include "train/train_options.h"

namespace attend {

void CheckNotStandardInput(const char* option, const std::vector<std::string>& files) {
  if (std::find(files.begin(), files.end(), "-") == files.end()) return;
  throw Error(ErrorKind::kConfiguration,
              fmt::format("{} is '-', expected a file: training reads its text more than once, "
                          "which standard input does not allow",
                          option));
}

void CheckWeights(const std::vector<double>& weights, const char* option, size_t files) {
  if (weights.empty() || weights.size() == files) return;
  throw Error(ErrorKind::kConfiguration,
              fmt::format("train_weights holds {} numbers for {} files of {}, expected one for "
                          "each",
                          weights.size(), files, option));
}

void CheckOneText(const TrainOptions& options) {
  if (const size_t count = options.model.languages.size(); count > 1) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("languages holds {}, expected the one of the text", count));
  }
  if (options.optimization.r_drop > 0)
    throw Error(ErrorKind::kConfiguration, "r_drop is for translation; leave it out");
}

void CheckReadable(const std::vector<std::string>& files, FormatCheck check) {
  std::string line;
  for (const std::string& file : files) LineReader(file, check).Next(&line);
}

std::string ShortName(const std::filesystem::path& file) {
  return RepairUtf8(file.filename().string());
}

void AddDigests(const std::string& name, const Corpus* corpus, Json* digests) {
  if (corpus == nullptr) return;
  for (const FileDigest& file : corpus->digests())
    (*digests)[fmt::format("{}_{}", name, file.name)] = file.sha256;
}

}  // namespace attend
