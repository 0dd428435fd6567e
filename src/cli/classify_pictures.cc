#include "cli/classify_pictures.h"

#include <span>
#include <utility>

#include "attend/error.h"
#include "base/thread_pool.h"
#include "cli/file_windows.h"
#include "media/fit_picture.h"
#include "media/picture_codec.h"

namespace attend {

void ClassifyPictures(const Classifier& classifier, const PatchInput& input,
                      const std::vector<std::string>& paths, const CommonOptions& common,
                      const TellPicture& tell) {
  ThreadPool pool(common.ThreadCount());
  RunOnFiles(paths, common, {"picture", "class"}, [&](std::span<const std::string> some) {
    std::vector<std::vector<uint8_t>> pixels(some.size());
    std::vector<std::string> errors(some.size());
    pool.ParallelFor(std::ssize(some), [&](int64_t i, int /*worker*/) {
      try {
        const Picture picture = ReadPicture(common.DataPath(some[i]), input.channels);
        pixels[i] = FitPicture(picture, input).pixels;
      } catch (const Error& error) {
        errors[i] = error.what();
      }
    });
    std::vector<std::vector<uint8_t>> readable;
    for (std::vector<uint8_t>& each : pixels)
      if (!each.empty()) readable.push_back(std::move(each));
    const std::vector<Classification> found = classifier.ClassifyPixels(readable);
    size_t next = 0;
    for (size_t i = 0; i < some.size(); ++i)
      tell(some[i], errors[i].empty() ? found[next++] : Classification(), errors[i]);
    return errors;
  });
}

}  // namespace attend
