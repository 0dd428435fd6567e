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
  std::span<const std::string> names;        // paths, or as PictureSet::name gives them
  std::vector<std::string> labels;           // of each, in a set of labelled pictures
  std::vector<std::string> errors;           // of each; empty: it could be read
  std::vector<std::vector<uint8_t>> pixels;  // of those that could, of the model's size
};

// Calls `run` with one window of pictures after another: of these files or of the sets of labelled
// pictures that `paths` name (see ArePictureSets), or, without paths, of the files that are the
// lines of standard input, in their order. It prints what the model says of them. `label_names` are
// the model's classes, empty for any; see PictureSetOptions. At the end it tells of those that
// can't be read, as Unreadable::Tell does; `lacks`: what they have not.
void RunOnPictures(const std::vector<std::string>& paths, const std::string& lacks,
                   const PatchInput& input, const std::vector<std::string>& label_names,
                   const CommonOptions& common,
                   const std::function<void(const PictureWindow& window)>& run);

}  // namespace attend

#endif  // ATTEND_CLI_PICTURE_COMMANDS_H_
