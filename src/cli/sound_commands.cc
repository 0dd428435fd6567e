#include "cli/sound_commands.h"

#include "attend/error.h"
#include "attend/translator.h"
#include "base/json.h"
#include "cli/file_windows.h"
#include "cli/vector_output.h"

namespace attend {

void EmbedRecordings(const std::shared_ptr<const LoadedModel>& loaded,
                     const std::vector<std::string>& files, const EmbeddingOptions& options,
                     const CommonOptions& common, const std::string& output) {
  if (options.pooling != TextPooling::kMean)
    throw Error(ErrorKind::kUsage, "the model reads sound, of which --pooling is mean");
  const Transcriber transcriber(loaded, common.ThreadCount());
  VectorOutput vectors(output, transcriber.width());
  RunOnFiles(files, common, {"recording", "vector"}, [&](std::span<const std::string> some) {
    std::vector<std::string> paths, errors;
    for (const std::string& path : some) paths.push_back(common.DataPath(path));
    const auto found = transcriber.EmbedFiles(paths, {.normalize = options.normalize});
    for (size_t i = 0; i < some.size(); ++i) {
      const auto& [values_D, error] = found[i];
      errors.push_back(error);
      const Json line = {{"recording", some[i]}};
      error.empty() ? vectors.Add(line, values_D) : vectors.AddUnreadable(line, error);
    }
    return errors;
  });
  vectors.Commit();
}

}  // namespace attend
