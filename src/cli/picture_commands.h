// What the commands share that read pictures: `attend classify` and `embed`.
#ifndef ATTEND_CLI_PICTURE_COMMANDS_H_
#define ATTEND_CLI_PICTURE_COMMANDS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "attend/model_config.h"
#include "cli/command_line.h"

namespace attend {

// Some pictures that are in memory together.
struct PictureWindow {
  std::span<const std::string> paths;
  std::vector<std::string> errors;           // of each path; empty: it could be read
  std::vector<std::vector<uint8_t>> pixels;  // of those that could, of the model's size
};

// Calls `run` with one window of pictures after another, of these paths or, where there are none,
// of those that are the lines of standard input, in their order. It prints what the model says of
// them. A warning at the end names and counts those that can't be read. Throws Error(kInput) with
// the first reason where none can.
void RunOnPictures(const std::vector<std::string>& paths, const PatchInput& input,
                   const CommonOptions& common,
                   const std::function<void(const PictureWindow& window)>& run);

}  // namespace attend

#endif  // ATTEND_CLI_PICTURE_COMMANDS_H_
