// The options of `attend export`, which both programs read: attend-train averages checkpoints.
#ifndef ATTEND_CLI_EXPORT_OPTIONS_H_
#define ATTEND_CLI_EXPORT_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command_line.h"

namespace attend {

enum class ExportFormat { kAttend, kTransformers, kCTranslate2 };

struct ExportOptions {
  CommonOptions common;
  ExportFormat format = ExportFormat::kAttend;
  std::string output, model;
  // Of kAttend: one of them.
  std::vector<std::string> checkpoints;
  std::string adapter;
  // Of the others.
  int64_t positions = 1024;
  bool verify = false;
};

// The name that the command line has for it.
const std::string& NameOf(ExportFormat format);

// Returns false after --help. Throws Error(kUsage) for options that are missing or don't go
// together.
bool ParseExport(const std::vector<std::string>& arguments, ExportOptions* options);

// Makes a model directory of `adapter` and `model`.
void MergeAdapter(const ExportOptions& options);

}  // namespace attend

#endif  // ATTEND_CLI_EXPORT_OPTIONS_H_
