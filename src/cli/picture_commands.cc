#include "cli/picture_commands.h"

#include <utility>

#include "attend/error.h"
#include "base/thread_pool.h"
#include "cli/file_windows.h"
#include "media/fit_picture.h"

namespace attend {

void RunOnPictures(const std::vector<std::string>& paths, const PatchInput& input,
                   const CommonOptions& common,
                   const std::function<void(const PictureWindow& window)>& run) {
  ThreadPool pool(common.ThreadCount());
  RunOnFiles(paths, common, {"picture", "answer"}, [&](std::span<const std::string> some) {
    PictureWindow window{some, std::vector<std::string>(some.size()), {}};
    std::vector<std::vector<uint8_t>> pixels(some.size());
    pool.ParallelFor(std::ssize(some), [&](int64_t i, int /*worker*/) {
      try {
        pixels[i] = ReadFitted(common.DataPath(some[i]), input).pixels;
      } catch (const Error& error) {
        window.errors[i] = error.what();
      }
    });
    for (std::vector<uint8_t>& each : pixels)
      if (!each.empty()) window.pixels.push_back(std::move(each));
    run(window);
    return std::move(window.errors);
  });
}

}  // namespace attend
