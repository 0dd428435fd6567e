#include "cli/picture_commands.h"

#include <utility>

#include "attend/error.h"
#include "base/thread_pool.h"
#include "cli/file_windows.h"
#include "media/fit_picture.h"
#include "media/picture_set.h"

namespace attend {
namespace {

// Reads what `get` gives of each, in parallel.
void Fill(PictureWindow* window, ThreadPool& pool, const std::function<Picture(int64_t i)>& get) {
  window->errors.resize(window->names.size());
  std::vector<std::vector<uint8_t>> pixels(window->names.size());
  pool.ParallelFor(std::ssize(window->names), [&](int64_t i, int /*worker*/) {
    try {
      pixels[i] = get(i).pixels;
    } catch (const Error& error) {
      window->errors[i] = error.what();
    }
  });
  for (std::vector<uint8_t>& each : pixels)
    if (!each.empty()) window->pixels.push_back(std::move(each));
}

void RunOnSet(const PictureSet& set, const PatchInput& input, const FileNouns& nouns,
              const CommonOptions& common,
              const std::function<void(const PictureWindow& window)>& run) {
  ThreadPool pool(common.ThreadCount());
  std::vector<std::string> names(set.size());
  for (int64_t i = 0; i < set.size(); ++i) names[i] = set.name(i);
  RunOnFiles(names, common, nouns, [&](std::span<const std::string> some) {
    const int64_t first = some.data() - names.data();
    PictureWindow window{some, {}, {}, {}};
    for (int64_t i = 0; i < std::ssize(some); ++i)
      window.labels.push_back(set.label_names()[set.label(first + i)]);
    Fill(&window, pool, [&](int64_t i) { return FitPicture(set.Get(first + i), input); });
    run(window);
    return std::move(window.errors);
  });
}

}  // namespace

void RunOnPictures(const std::vector<std::string>& paths, const std::string& lacks,
                   const PatchInput& input, const std::vector<std::string>& label_names,
                   const CommonOptions& common,
                   const std::function<void(const PictureWindow& window)>& run) {
  const FileNouns nouns = {"picture", lacks};
  std::vector<std::string> places;
  for (const std::string& path : paths) places.push_back(common.DataPath(path));
  if (ArePictureSets(places)) {
    const auto set = OpenPictures(places, {.channels = input.channels, .label_names = label_names});
    return RunOnSet(*set, input, nouns, common, run);
  }
  ThreadPool pool(common.ThreadCount());
  RunOnFiles(paths, common, nouns, [&](std::span<const std::string> some) {
    PictureWindow window{some, {}, {}, {}};
    Fill(&window, pool, [&](int64_t i) { return ReadFitted(common.DataPath(some[i]), input); });
    run(window);
    return std::move(window.errors);
  });
}

}  // namespace attend
