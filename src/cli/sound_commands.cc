#include "cli/sound_commands.h"

#include <iostream>
#include <limits>

#include "attend/error.h"
#include "attend/translator.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "cli/file_windows.h"

namespace attend {

void EmbedRecordings(const std::shared_ptr<const LoadedModel>& loaded,
                     const std::vector<std::string>& files, const EmbeddingOptions& options,
                     const CommonOptions& common, const std::string& output) {
  if (options.pooling != TextPooling::kMean)
    throw Error(ErrorKind::kUsage, "the model reads sound, of which --pooling is mean");
  const Transcriber transcriber(loaded, common.ThreadCount());
  const std::vector<float> none(transcriber.width(), std::numeric_limits<float>::quiet_NaN());
  std::unique_ptr<NpyFile> rows;
  if (!output.empty()) rows = std::make_unique<NpyFile>(output, transcriber.width());
  RunOnFiles(files, common, {"recording", "vector"}, [&](std::span<const std::string> some) {
    std::vector<std::string> paths, errors;
    for (const std::string& path : some) paths.push_back(common.DataPath(path));
    const auto found = transcriber.EmbedFiles(paths, {.normalize = options.normalize});
    for (size_t i = 0; i < some.size(); ++i) {
      const auto& [values_D, error] = found[i];
      errors.push_back(error);
      if (rows != nullptr) {
        rows->Add(error.empty() ? values_D : none);
        continue;
      }
      Json line = {{"recording", some[i]}};
      if (error.empty()) {
        line["embedding"] = FloatsToJson(values_D);
      } else {
        line["error"] = error;
      }
      std::cout << Printable(Dump(line)) << '\n';
    }
    return errors;
  });
  if (rows != nullptr) rows->Commit();
}

}  // namespace attend
