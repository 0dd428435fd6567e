#include "cli/classify_pictures.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <span>

#include "attend/error.h"
#include "base/counted.h"
#include "base/thread_pool.h"
#include "cli/line_windows.h"
#include "media/fit_picture.h"
#include "media/picture_codec.h"

namespace attend {
namespace {

class PictureWindows {
 public:
  PictureWindows(const Classifier& classifier, const PatchInput& input, const CommonOptions& common,
                 const TellPicture& tell)
      : classifier_(classifier),
        input_(input),
        common_(common),
        tell_(tell),
        pool_(common.ThreadCount()) {}

  // Some pictures that are in memory together.
  void Run(std::span<const std::string> paths) {
    std::vector<std::vector<uint8_t>> pixels(paths.size());
    std::vector<std::string> errors(paths.size());
    pool_.ParallelFor(std::ssize(paths), [&](int64_t i, int /*worker*/) {
      try {
        const Picture picture = ReadPicture(common_.DataPath(paths[i]), input_.channels);
        pixels[i] = FitPicture(picture, input_).pixels;
      } catch (const Error& error) {
        errors[i] = error.what();
      }
    });
    std::vector<std::vector<uint8_t>> readable;
    for (std::vector<uint8_t>& each : pixels)
      if (!each.empty()) readable.push_back(std::move(each));
    const std::vector<Classification> found = classifier_.ClassifyPixels(readable);
    size_t next = 0;
    for (size_t i = 0; i < paths.size(); ++i) {
      ++pictures_;
      if (!errors[i].empty() && unreadable_++ == 0) first_error_ = errors[i];
      tell_(paths[i], errors[i].empty() ? found[next++] : Classification(), errors[i]);
    }
    FlushOutput();
  }

  void End() const {
    if (unreadable_ == 0) return;
    if (unreadable_ == pictures_) throw Error(ErrorKind::kInput, first_error_);
    common_.MakeLog()(LogLevel::kWarning,
                      fmt::format("{} of {} could not be read and {} no class; the first: {}",
                                  unreadable_, Counted(pictures_, "picture"),
                                  unreadable_ == 1 ? "has" : "have", first_error_));
  }

 private:
  const Classifier& classifier_;
  const PatchInput& input_;
  const CommonOptions& common_;
  const TellPicture& tell_;
  ThreadPool pool_;
  int64_t pictures_ = 0, unreadable_ = 0;
  std::string first_error_;
};

}  // namespace

void ClassifyPictures(const Classifier& classifier, const PatchInput& input,
                      const std::vector<std::string>& paths, const CommonOptions& common,
                      const TellPicture& tell) {
  constexpr size_t kTogether = 64;
  PictureWindows windows(classifier, input, common, tell);
  const auto run = [&](std::span<const std::string> some) {
    for (size_t first = 0; first < some.size(); first += kTogether)
      windows.Run(some.subspan(first, std::min(kTogether, some.size() - first)));
  };
  run(paths);
  if (paths.empty()) {
    LineWindows lines({"-"}, isatty(STDOUT_FILENO) == 1, common.ThreadCount());
    while (lines.Next()) run(lines.lines());
  }
  windows.End();
}

}  // namespace attend
