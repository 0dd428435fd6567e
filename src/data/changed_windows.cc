#include "data/changed_windows.h"

#include <utility>

#include "base/random.h"

namespace attend {
namespace {

class ChangedWindows : public WindowReader {
 public:
  ChangedWindows(std::unique_ptr<WindowReader> windows, ChangeExamples change)
      : windows_(std::move(windows)), change_(std::move(change)) {}

  WindowWork Next() override {
    WindowWork work = windows_->Next();
    // No window has as many examples.
    const uint64_t first = static_cast<uint64_t>(work.start.number) << 32;
    work.make = [change = change_, epoch = static_cast<uint64_t>(work.epoch), first,
                 make = std::move(work.make)] {
      Window window = make();
      window.examples =
          std::make_shared<const ExampleTable>(change(*window.examples, epoch, first));
      return window;
    };
    return work;
  }

 private:
  std::unique_ptr<WindowReader> windows_;
  ChangeExamples change_;
};

}  // namespace

uint64_t ChangeKey(uint64_t seed, uint64_t epoch, uint64_t number) {
  return Random{seed, epoch, number}.Next();
}

std::unique_ptr<WindowReader> ChangeWindows(std::unique_ptr<WindowReader> windows,
                                            ChangeExamples change) {
  return std::make_unique<ChangedWindows>(std::move(windows), std::move(change));
}

}  // namespace attend
