// What the words of a transcript look at in the recording, for people: SVG of one segment and
// layer, an HTML page of all, or numbers of one segment.
#ifndef ATTEND_CLI_ATTENTION_VIEW_RECORDING_VIEW_H_
#define ATTEND_CLI_ATTENTION_VIEW_RECORDING_VIEW_H_

#include <cstdint>
#include <memory>
#include <string>

#include "tasks/loaded_model.h"

namespace attend {

// A drawing of one segment and layer, a page that needs no network of all, opened at them, or the
// numbers of the segment, as `file` ends in .svg, .html or .json. Both count from 1; layer 0 is the
// last. Throws Error(kUsage) for what is not there, and as AttendRecording does.
std::string DrawRecording(const std::shared_ptr<const LoadedModel>& loaded, const std::string& path,
                          int threads, const std::string& file, int64_t segment, int64_t layer);

}  // namespace attend

#endif  // ATTEND_CLI_ATTENTION_VIEW_RECORDING_VIEW_H_
