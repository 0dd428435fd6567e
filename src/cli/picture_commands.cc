#include "cli/picture_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"
#include "base/counted.h"
#include "base/thread_pool.h"
#include "cli/line_windows.h"
#include "media/fit_picture.h"
#include "media/picture_codec.h"

namespace attend {
namespace {

class PictureReader {
 public:
  PictureReader(const PatchInput& input, const CommonOptions& common)
      : input_(input), common_(common), pool_(common.ThreadCount()) {}

  PictureWindow Read(std::span<const std::string> paths) {
    PictureWindow window{paths, std::vector<std::string>(paths.size()), {}};
    std::vector<std::vector<uint8_t>> pixels(paths.size());
    pool_.ParallelFor(std::ssize(paths), [&](int64_t i, int /*worker*/) {
      try {
        const Picture picture = ReadPicture(common_.DataPath(paths[i]), input_.channels);
        pixels[i] = FitPicture(picture, input_).pixels;
      } catch (const Error& error) {
        window.errors[i] = error.what();
      }
    });
    for (size_t i = 0; i < paths.size(); ++i) {
      ++pictures_;
      if (window.errors[i].empty()) {
        window.pixels.push_back(std::move(pixels[i]));
      } else if (unreadable_++ == 0) {
        first_error_ = window.errors[i];
      }
    }
    return window;
  }

  void End() const {
    if (unreadable_ == 0) return;
    if (unreadable_ == pictures_) throw Error(ErrorKind::kInput, first_error_);
    common_.MakeLog()(LogLevel::kWarning,
                      fmt::format("{} of {} could not be read and {} no answer; the first: {}",
                                  unreadable_, Counted(pictures_, "picture"),
                                  unreadable_ == 1 ? "has" : "have", first_error_));
  }

 private:
  const PatchInput& input_;
  const CommonOptions& common_;
  ThreadPool pool_;
  int64_t pictures_ = 0, unreadable_ = 0;
  std::string first_error_;
};

}  // namespace

void RunOnPictures(const std::vector<std::string>& paths, const PatchInput& input,
                   const CommonOptions& common,
                   const std::function<void(const PictureWindow& window)>& run) {
  constexpr size_t kTogether = 64;
  PictureReader reader(input, common);
  const auto run_all = [&](std::span<const std::string> some) {
    for (size_t first = 0; first < some.size(); first += kTogether) {
      run(reader.Read(some.subspan(first, std::min(kTogether, some.size() - first))));
      FlushOutput();
    }
  };
  run_all(paths);
  if (paths.empty()) {
    LineWindows lines({"-"}, isatty(STDOUT_FILENO) == 1, common.ThreadCount());
    while (lines.Next()) run_all(lines.lines());
  }
  reader.End();
}

}  // namespace attend
