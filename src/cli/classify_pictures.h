// `attend classify` with a model that reads pictures.
#ifndef ATTEND_CLI_CLASSIFY_PICTURES_H_
#define ATTEND_CLI_CLASSIFY_PICTURES_H_

#include <functional>
#include <string>
#include <vector>

#include "attend/classifier.h"
#include "cli/command_line.h"

namespace attend {

// What is said of one picture: its classes, or why there are none.
using TellPicture = std::function<void(const std::string& path, const Classification& found,
                                       const std::string& error)>;

// Classifies the pictures, or those whose paths are the lines of standard input, in their order. A
// warning at the end names and counts those that can't be read. Throws Error(kInput) with the first
// reason where none can.
void ClassifyPictures(const Classifier& classifier, const PatchInput& input,
                      const std::vector<std::string>& paths, const CommonOptions& common,
                      const TellPicture& tell);

}  // namespace attend

#endif  // ATTEND_CLI_CLASSIFY_PICTURES_H_
