// What the words of a transcript look at in the recording, for people: SVG of one segment and
// layer, an HTML page of all, or numbers of one segment.
#ifndef ATTEND_CLI_ATTENTION_VIEW_RECORDING_VIEW_H_
#define ATTEND_CLI_ATTENTION_VIEW_RECORDING_VIEW_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attend/translator.h"
#include "base/json.h"
#include "tasks/loaded_model.h"
#include "tasks/transcription/recording_attention.h"

namespace attend {

struct RecordingView {
  std::string name;  // of the recording
  Transcription found;
  std::vector<SegmentAttention> attention;  // of the first segments
};

// Transcribes a file. Throws Error(kInput) for one that can't be read, or in which nothing is
// heard.
RecordingView ViewRecording(const std::shared_ptr<const LoadedModel>& loaded,
                            const std::string& path, int threads, const AttentionBounds& bounds);

// A drawing of one segment and layer, a page that needs no network of all, opened at them, or the
// numbers of the segment, as `file` ends in .svg, .html or .json. Both count from 1; layer 0 is the
// last. Throws Error(kUsage) for what is not there, and as ViewRecording does.
std::string DrawRecording(const std::shared_ptr<const LoadedModel>& loaded, const std::string& path,
                          int threads, const std::string& file, int64_t segment, int64_t layer);

}  // namespace attend

#endif  // ATTEND_CLI_ATTENTION_VIEW_RECORDING_VIEW_H_
