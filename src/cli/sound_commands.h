// What commands do with recordings beside `attend transcribe`.
#ifndef ATTEND_CLI_SOUND_COMMANDS_H_
#define ATTEND_CLI_SOUND_COMMANDS_H_

#include <memory>
#include <string>
#include <vector>

#include "attend/text_encoder.h"
#include "cli/command_line.h"
#include "tasks/loaded_model.h"

namespace attend {

// `attend embed` with a model of transcription: vectors of these files, or of those that the lines
// of standard input name, into the file `output`, or, where that is empty, as lines of JSON. One
// that can't be read has a row of NaN, and in JSON an error. Throws Error(kUsage) for another
// pooling than the mean, and as RunOnFiles does.
void EmbedRecordings(const std::shared_ptr<const LoadedModel>& loaded,
                     const std::vector<std::string>& files, const EmbeddingOptions& options,
                     const CommonOptions& common, const std::string& output);

}  // namespace attend

#endif  // ATTEND_CLI_SOUND_COMMANDS_H_
