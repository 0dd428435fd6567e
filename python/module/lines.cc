// attend.read_lines, and lines that messages may show.
#include "text/lines.h"

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/excerpt.h"
#include "python/module/bindings.h"
#include "python/module/texts.h"
#include "text/utf8.h"

namespace attend {
namespace nb = nanobind;
namespace {

// The lines of a file, as they are asked for.
class FileLines {
 public:
  explicit FileLines(const std::filesystem::path& path) : reader_(path) {}

  nb::object Next() {
    if (ready_.empty() && !ended_) Fill();
    if (ready_.empty()) throw nb::stop_iteration();
    nb::object line = StrOf(ready_.front());
    ready_.pop_front();
    return line;
  }

 private:
  void Fill() {
    std::vector<std::string> lines;
    {
      const WithoutGil released;
      lines = Read();
    }
    for (std::string& line : lines) ready_.push_back(std::move(line));
    if (ended_ && malformed_ > 0) {
      WarnOfMalformed(fmt::format("{} malformed UTF-8 sequences in {} became U+FFFD", malformed_,
                                  reader_.name()));
    }
  }

  // Waits for one line and takes those that are there already.
  std::vector<std::string> Read() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> lines;
    std::string line;
    while (!ended_ && lines.size() < kLines && (lines.empty() || reader_.Ready())) {
      ended_ = !reader_.Next(&line);
      if (!ended_) lines.push_back(RepairUtf8(line, &malformed_));
    }
    return lines;
  }

  static constexpr size_t kLines = 512;
  std::deque<std::string> ready_;
  std::mutex mutex_;  // of all below, which are read without the GIL
  LineReader reader_;
  int64_t malformed_ = 0;
  std::atomic<bool> ended_{false};
};

}  // namespace

void BindLines(nb::module_& module) {
  nb::class_<FileLines>(module, "_FileLines")
      .def("__iter__", [](nb::handle self) { return self; })
      .def("__next__", &FileLines::Next);
  module.def(
      "read_lines",
      [](const std::filesystem::path& path) { return std::make_unique<FileLines>(path).release(); },
      nb::arg("path"),
      nb::sig("def read_lines(path: str | os.PathLike[str]) -> collections.abc.Iterator[str]"),
      "The lines of a text file, .gz and .zst too, as the program reads them: a line ends at LF "
      "or\n"
      "CRLF and nowhere else, and malformed UTF-8 becomes U+FFFD, of which a warning tells.");
  module.def(
      "printable",
      [](const nb::str& text) {
        const nb::object bytes = text.attr("encode")("utf-8", "backslashreplace");
        const auto held = nb::cast<nb::bytes>(bytes);
        return Printable(std::string_view(held.c_str(), held.size()));
      },
      nb::arg("text"), nb::sig("def printable(text: str) -> str"),
      "The text on one line that drives no terminal: line ends, control characters and marks of\n"
      "direction become escapes.");
}

}  // namespace attend
